"""Derivatives by the complex step: Im f(x + ih) / h has no subtraction, so that h = 1e-200 gives all digits."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

STEP = 1e-200


def gradient(
    compute: Callable[[dict[str, Any]], Mapping[str, Any]],
    arrays: Mapping[str, Any],
    cotangents: Mapping[str, Any],
    name: str,
) -> np.ndarray:
    """d(sum over outputs of <cotangent, output>) / d(``arrays[name]``), one run per element."""
    point = np.asarray(arrays[name], dtype=complex)
    slopes = []
    for index in range(point.size):
        nudge = np.zeros(point.size)
        nudge[index] = STEP
        outputs = compute({**arrays, name: point + 1j * nudge.reshape(point.shape)})
        slopes.append(sum((np.imag(outputs[key]) * weight).sum() for key, weight in cotangents.items()) / STEP)
    return np.array(slopes).reshape(point.shape)
