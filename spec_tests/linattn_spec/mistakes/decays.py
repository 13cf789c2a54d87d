"""Decays over several tokens computed in a way that overflows, loses digits or counts the wrong tokens."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import decays
from linattn_spec.mistakes.closed import ClosedForm
from linattn_spec.mistakes.precision import rounded
from linattn_spec.mistakes.record import CHUNK, Array, Mistake


def exp(x: Array) -> Array:
    """In single precision, whatever is given: where it overflows there, the mistake is made."""
    return np.exp(np.asarray(x, dtype=np.float32)).astype(np.asarray(x).dtype)


def cumulative(gate: Array) -> Array:
    return np.cumsum(gate, axis=-2)


def pairs(between: Callable[[Array, Array], Array], total: Callable[[Array], Array] = cumulative) -> Any:
    """Decays from cumulative sums: ``between(sum at t, sum at s)``."""

    def changed(gate: Array, earlier: Array) -> Any:
        sums = total(gate)
        causal = np.tri(sums.shape[-2], dtype=sums.dtype)[:, :, None]
        every = between(sums[..., :, None, :], sums[..., None, :, :])
        until_end = between(sums[..., -1:, :], sums)
        return np.where(causal > 0, every, 0), exp(sums), until_end

    return changed


def difference(at: Array, since: Array) -> Array:
    return exp(at - since)


def masked_too_late(gate: Array, earlier: Array) -> Any:
    """exp of all differences, also of those that look ahead; 0 times infinity is not a number."""
    _, since_start, until_end = decays(gate)
    sums = cumulative(np.maximum(gate, -1e4))
    causal = np.tri(sums.shape[-2], dtype=sums.dtype)[:, :, None]
    return exp(sums[..., :, None, :] - sums[..., None, :, :]) * causal, since_start, until_end


def anchored_in_the_middle(gate: Array, earlier: Array) -> Any:
    sums = cumulative(np.maximum(gate, -1e4))
    middle = sums[..., sums.shape[-2] // 2, None, :]
    _, since_start, until_end = decays(gate)
    causal = np.tri(sums.shape[-2], dtype=sums.dtype)[:, :, None]
    every = exp(sums - middle)[..., :, None, :] * exp(middle - sums)[..., None, :, :]
    return np.where(causal > 0, every, 0), since_start, until_end


def restarted_inside(gate: Array) -> Array:
    half = CHUNK // 2
    pieces = [cumulative(gate[..., t : t + half, :]) for t in range(0, gate.shape[-2], half)]
    return np.concatenate(pieces, axis=-2)


def not_restarted(gate: Array, earlier: Array) -> Any:
    between, since_start, until_end = decays(gate)
    return between, np.exp(np.maximum(earlier, -1e4)) * since_start, until_end


def writes_by_the_start(gate: Array, earlier: Array) -> Any:
    between, since_start, _ = decays(gate)
    return between, since_start, since_start


def rounded_sums(dtype: str) -> Any:
    return pairs(difference, lambda gate: rounded(cumulative(np.maximum(gate, -1e4)), dtype))


def finite(gate: Array) -> Array:
    return np.maximum(gate, -64)


NEEDS, CLOSED, CHUNKED, FP32 = ("log_decay", "outer products"), ("chunkwise", "parallel"), ("chunkwise",), ("fp32",)

DECAYS = (
    Mistake(
        "decays-as-differences",
        "gate range",
        "Decays are exp of differences of cumulative sums: not a number from a gate of -inf on.",
        ClosedForm(decays=pairs(difference)),
        NEEDS,
        CLOSED,
    ),
    Mistake(
        "decays-as-quotients",
        "gate range",
        "Decays are quotients of cumulative decays: 0 / 0 after strong gates.",
        ClosedForm(decays=pairs(lambda at, since: exp(at) / exp(since))),
        NEEDS,
        CLOSED,
    ),
    Mistake(
        "inverse-decays-overflow",
        "gate range",
        "Keys are multiplied by exp of the negative cumulative sum, which overflows at strong gates.",
        ClosedForm(decays=pairs(lambda at, since: exp(at) * exp(-since))),
        NEEDS,
        CLOSED,
        seen_in=("https://github.com/pytorch/executorch/pull/21417",),
    ),
    Mistake(
        "decays-around-the-middle-overflow",
        "gate range",
        "Cumulative sums are taken from the middle of the chunk: half a chunk of strong gates overflows.",
        ClosedForm(decays=anchored_in_the_middle),
        NEEDS,
        CLOSED,
        seen_in=("https://github.com/NVIDIA/cudnn-frontend/pull/1017",),
    ),
    Mistake(
        "decays-masked-too-late",
        "gate range",
        "The exponential is taken before the mask: 0 times infinity.",
        ClosedForm(decays=masked_too_late),
        NEEDS,
        CLOSED,
    ),
    Mistake(
        "cumulative-gates-clamped",
        "gate range",
        "Cumulative sums below -88 are clamped: neighbours far down keep no decay between them.",
        ClosedForm(decays=pairs(difference, lambda gate: np.maximum(cumulative(gate), -88))),
        NEEDS,
        CLOSED,
    ),
    Mistake(
        "cumulative-gates-in-bfloat16",
        "precision",
        "The cumulative sum of the gates is rounded to bfloat16.",
        ClosedForm(decays=rounded_sums("bfloat16")),
        NEEDS,
        CLOSED,
    ),
    Mistake(
        "cumulative-gates-in-float16",
        "precision",
        "The cumulative sum of the gates is rounded to float16.",
        ClosedForm(decays=rounded_sums("float16")),
        NEEDS,
        CLOSED,
        FP32,
    ),
    Mistake(
        "cumulative-gates-restarted",
        "gate",
        "The cumulative sum of the gates restarts in the middle of a chunk.",
        ClosedForm(decays=pairs(difference, lambda gate: restarted_inside(finite(gate)))),
        NEEDS,
        CHUNKED,
        seen_in=("https://github.com/flashinfer-ai/flashinfer/issues/2768",),
    ),
    Mistake(
        "cumulative-gates-not-restarted",
        "chunk",
        "The cumulative sum of the gates runs on over chunk borders: the state decays by all earlier gates again.",
        ClosedForm(decays=not_restarted),
        NEEDS,
        CHUNKED,
    ),
    Mistake(
        "chunk-writes-decayed-from-the-start",
        "chunk",
        "What a chunk writes has decayed since its start instead of until its end.",
        ClosedForm(decays=writes_by_the_start),
        NEEDS,
        CHUNKED,
    ),
)
