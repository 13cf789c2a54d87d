"""Number systems on which ``step``, ``parallel`` and the folds run unchanged.

float64 and float32 are NumPy's own. ``ball`` encloses the true real value and so proves correct rounding; ``tape``
gives reverse-mode gradients over any of the others; ``field`` turns identities between forms into exact equalities;
``noise`` measures how far a computation of a promised precision may stray; ``complex_step`` is an independent
derivative in complex128.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def lift(convert: Callable[[Any], Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Every number of every array through ``convert``: arrays of objects, plain numbers stay plain."""
    each = np.frompyfunc(convert, 1, 1)
    return {name: each(array) for name, array in arrays.items()}
