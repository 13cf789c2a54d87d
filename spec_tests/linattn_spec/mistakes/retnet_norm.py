"""The norm of RetNet's outputs."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import read
from linattn.rotary import rotate
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_step

Token = dict[str, Array]


def normalised(function: Callable[[Array, Token], Array]) -> Callable[[Call], Results]:
    """Another norm: ``function(what is read, token)``."""

    def changed(step: Any, state: tuple, token: Token) -> Any:
        after, _ = step(*state, **token)
        return after, function(token["scale"] * read(rotate(token["q"], state[1]), after[0]), token)

    return with_step(changed)


def mean_square(x: Array) -> Array:
    return (x * x).mean(axis=-1, keepdims=True)


def centred(x: Array, t: Token) -> Array:
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt(mean_square(x) + t["eps"])


def over_all_heads(x: Array, t: Token) -> Array:
    return x / np.sqrt(mean_square(x).mean(axis=tuple(range(1, x.ndim - 1)), keepdims=True) + t["eps"])


def scaled_afterwards(x: Array, t: Token) -> Array:
    x = x / t["scale"]
    return t["scale"] * x / np.sqrt(mean_square(x) + t["eps"])


def of(identity: str, sentence: str, function: Callable[[Array, Token], Array], *seen_in: str) -> Mistake:
    return Mistake(identity, "norm", sentence, normalised(function), ("retnet",), seen_in=seen_in)


RETNET_NORM = (
    of("retnet-norm-missing", "The outputs of the retention are not normalised.", lambda x, t: x),
    of(
        "retnet-norm-centred",
        "The mean is subtracted, as a group norm does.",
        centred,
        "https://github.com/microsoft/torchscale/pull/69",
    ),
    of(
        "retnet-norm-of-the-sum",
        "The outputs have length 1, not root mean square 1.",
        lambda x, t: x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + t["eps"]),
    ),
    of(
        "retnet-norm-over-all-heads",
        "All heads are normalised together.",
        over_all_heads,
        "https://github.com/fkodom/yet-another-retnet/pull/11",
    ),
    of(
        "retnet-eps-outside-the-root",
        "eps is added to the root mean square.",
        lambda x, t: x / (np.sqrt(mean_square(x)) + t["eps"]),
    ),
    of(
        "retnet-eps-as-minimum",
        "eps bounds the mean square from below instead of being added.",
        lambda x, t: x / np.sqrt(np.maximum(mean_square(x), t["eps"])),
    ),
    of(
        "retnet-root-missing",
        "The outputs are divided by the mean square.",
        lambda x, t: x / (mean_square(x) + t["eps"]),
    ),
    of("retnet-scale-after-the-norm", "The scale acts on the normalised outputs.", scaled_afterwards),
)
