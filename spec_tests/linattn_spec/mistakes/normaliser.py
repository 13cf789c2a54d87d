"""The normaliser and its eps."""

from typing import Any

import numpy as np

from linattn.algebra import dot, read
from linattn_spec.mistakes.record import (
    Array,
    Mistake,
    with_inputs,
    with_step,
)


def normalised(function: Any) -> Any:
    """Normalised linear attention with another output: ``function(weighted, total, eps)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (S, z), _ = step(*state, **token)
        return (S, z), function(read(token["q"], S), dot(token["q"], z), token["eps"])

    return with_step(changed)


def total_before_write(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S, z), _ = step(*state, **token)
    return (S, z), read(token["q"], S) / (dot(token["q"], state[1]) + token["eps"])


NORMALISER = (
    Mistake(
        "normaliser-missing", "normaliser", "The output is not divided.", normalised(lambda o, n, eps: o), ("eps",)
    ),
    Mistake(
        "normaliser-multiplied",
        "normaliser",
        "The output is multiplied by the normaliser.",
        normalised(lambda o, n, eps: o * (n + eps)),
        ("eps",),
        seen_in=("https://github.com/lucidrains/performer-pytorch/issues/40",),
    ),
    Mistake(
        "normaliser-before-write",
        "normaliser",
        "The normaliser lacks the token itself.",
        with_step(total_before_write),
        ("eps",),
    ),
    Mistake(
        "normaliser-root",
        "normaliser",
        "The output is divided by the root of the normaliser.",
        normalised(lambda o, n, eps: o / (n + eps) ** 0.5),
        ("eps",),
    ),
    Mistake("eps-missing", "eps", "eps is not added.", with_inputs(eps=lambda x, c: 0 * x), ("eps",)),
    Mistake(
        "eps-as-minimum",
        "eps",
        "eps bounds the normaliser from below instead of being added.",
        normalised(lambda o, n, eps: o / np.maximum(n, eps)),
        ("eps",),
    ),
    Mistake(
        "eps-in-numerator",
        "eps",
        "eps is added to the numerator too.",
        normalised(lambda o, n, eps: (o + eps) / (n + eps)),
        ("eps",),
    ),
    Mistake(
        "eps-under-a-root",
        "eps",
        "eps is added under a root.",
        normalised(lambda o, n, eps: o / (n * n + eps) ** 0.5),
        ("eps",),
    ),
    Mistake(
        "eps-per-channel",
        "eps",
        "eps is added in every term of the normaliser: K times in all.",
        with_inputs(eps=lambda x, c: x * c.inputs["q"].shape[-1]),
        ("eps",),
    ),
)
