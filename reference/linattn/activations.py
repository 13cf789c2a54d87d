"""Elementwise functions of gates, convolutions and norms: no overflow and no cancellation at any finite argument.

Each is written for a size of x that is at least 0, from which the other side follows exactly. They are right to a few
units in the last place, also where the textbook formula is 0, infinite or without a correct digit.
"""

from typing import Any

import numpy as np

from linattn.algebra import maximum, sigmoid

Array = Any


def size(x: Array) -> Array:
    """|x|, on every number system."""
    return maximum(x, -x)


def softplus(x: Array) -> Array:
    """log(1 + exp(x)). Libraries return x itself above 20, which is right to 2e-9."""
    return maximum(x, 0 * x) + np.log1p(np.exp(-size(x)))


def logsigmoid(x: Array) -> Array:
    """log(1 / (1 + exp(-x))) = -softplus(-x)."""
    return -softplus(-x)


def silu(x: Array) -> Array:
    """x sigmoid(x), also called swish. The root of exp(-|x|) does not underflow before the result does."""
    root = np.exp(-size(x) / 2)
    return np.where(x >= 0, x, x * root * root) / (1 + root * root)


def log_add_exp(x: Array, y: Array) -> Array:
    """log(exp(x) + exp(y)); one of them may be -inf."""
    return maximum(x, y) + np.log1p(np.exp(-maximum(x - y, y - x)))


ACTIVATIONS = {None: lambda x: x, "silu": silu, "sigmoid": sigmoid}


def activation(name: str | None) -> Any:
    """The function of that name; None is the identity."""
    if name not in ACTIVATIONS:
        raise ValueError(f"activation must be one of {', '.join(map(repr, ACTIVATIONS))}; got {name!r}")
    return ACTIVATIONS[name]
