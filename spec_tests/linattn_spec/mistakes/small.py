"""Can a mistake be made in a variant at all? A small call tells."""

from collections.abc import Callable
from typing import Any

import numpy as np

import linattn_golden
from linattn.record import Variant
from linattn_spec import drawn

TOKENS = 18  # two more than a chunk of the mistakes
REFUSALS = (ValueError, TypeError, KeyError, IndexError, AttributeError)
_known: dict[tuple[str, int, str], bool] = {}


def runs(mistake: str, variant: Variant, form: str, make: Callable[[dict[str, Any], tuple | None], Any]) -> bool:
    """Whether ``make(inputs, state)`` computes anything: variants may look alike and work otherwise."""
    key = mistake, id(variant.step), form
    if key not in _known:
        data = linattn_golden.load(drawn.case(variant, scenario(variant)))
        try:
            with np.errstate(all="ignore"):
                make(data.inputs, data.initial_state)
            _known[key] = True
        except REFUSALS:
            _known[key] = False
    return _known[key]


def scenario(variant: Variant) -> str:
    """All sizes differ but those of the heads: mixed-up axes do not fit."""
    common = {"B": 2, "T": TOKENS, "Hq": 3, "Hk": 3, "Hv": 3}
    own = [axis for axis in drawn.axes_of(variant) if axis not in common]
    return drawn.scenario({**common, **{axis: 4 + n for n, axis in enumerate(own)}, "initial_state": "drawn"})
