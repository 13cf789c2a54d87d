"""The growing cache of softmax attention, and its exponentials."""

from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import transpose
from linattn_spec.mistakes.gates import LN_2
from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.record import (
    CHUNK,
    Array,
    Call,
    Mistake,
    Results,
    has_state,
    right,
    with_all_heads,
    with_final_state,
    with_inputs,
    with_state,
)


def cache_ignored(call: Call) -> Results:
    """The outputs see no cache; the cache that is returned is complete."""
    empty = tuple(x[:, :, :0] for x in has_state(call).state)
    return {**right(call), "output": right(replace(call, state=empty))["output"]}


def scores_of(call: Call) -> tuple[Array, Array, Array]:
    """All scores (B, H, T, P), which of them are visible, and all values."""
    full = with_all_heads(call)
    keys = np.concatenate([full.state[0], full.inputs["k"]], axis=2)
    values = np.concatenate([full.state[1], full.inputs["v"]], axis=2)
    scores = full.inputs["scale"] * (full.inputs["q"] @ transpose(keys))
    return scores, up_to(scores, keys.shape[2] - scores.shape[2]), values


def up_to(scores: Array, past: int) -> Array:
    """Token t sees the first t + 1 + ``past`` of them."""
    return np.tri(scores.shape[2], scores.shape[3], past) > 0


def weighted(call: Call, weights: Array, values: Array) -> Results:
    return {**right(call), "output": (weights @ values) / weights.sum(axis=-1, keepdims=True)}


def exponentials_in_float16(call: Call) -> Results:
    scores, visible, values = scores_of(call)
    with np.errstate(over="ignore"):
        weights = np.where(visible, np.exp(scores).astype(np.float16), 0).astype(scores.dtype)
    return weighted(call, weights, values)


def not_rescaled(call: Call) -> Results:
    """Block by block with a maximum of its own, and no rescaling of what was summed before."""
    scores, visible, values = scores_of(call)
    scores = np.where(visible, scores, -np.inf)
    blocks = range(0, scores.shape[-1], CHUNK)
    tops = [np.maximum(scores[..., s : s + CHUNK].max(axis=-1, keepdims=True), -1e4) for s in blocks]
    so_far = np.maximum.accumulate(tops)
    weights = [np.exp(scores[..., s : s + CHUNK] - top) for s, top in zip(blocks, so_far, strict=True)]
    return weighted(call, np.concatenate(weights, axis=-1), values)


def late_mask(call: Call) -> Results:
    """What is masked away keeps a score of 0 instead of minus infinity."""
    scores, visible, values = scores_of(call)
    scores = np.where(visible, scores, 0)
    return weighted(call, np.exp(scores - scores.max(axis=-1, keepdims=True)), values)


def window(call: Call) -> Results:
    """Only the last 16 tokens are seen."""
    scores, visible, values = scores_of(call)
    near = visible & ~up_to(scores, scores.shape[3] - scores.shape[2] - CHUNK)
    scores = np.where(near, scores, -np.inf)
    return weighted(call, np.exp(scores - scores.max(axis=-1, keepdims=True)), values)


def exchanged(x: tuple[Array, Array]) -> Any:
    return x if x[0].shape != x[1].shape else x[::-1]


def cache_exchanged(call: Call) -> Results:
    return right(replace(call, state=exchanged(call.state)))


NEEDS = ("keys",)
SOFTMAX = (*NEEDS, "read inclusive")

CACHE = (
    Mistake(
        "cache-ignored",
        "state in",
        "The outputs see no token of the cache.",
        cache_ignored,
        NEEDS,
        seen_by=("golden", "split"),
    ),
    Mistake("cache-of-zeros", "state in", "The cache is read as zeros.", with_state(lambda x, c: 0 * x), NEEDS),
    Mistake(
        "cache-a-token-late",
        "state in",
        "The cache is read one token off.",
        with_state(lambda x, c: shifted(x, 1)),
        NEEDS,
    ),
    Mistake(
        "cache-keys-and-values-exchanged",
        "state layout",
        "Keys and values of the cache are exchanged where K = V hides it.",
        cache_exchanged,
        NEEDS,
    ),
    Mistake(
        "cache-reversed-out",
        "state out",
        "The cache is returned in reversed order.",
        with_final_state(lambda x, c: x[:, :, ::-1]),
        NEEDS,
    ),
    Mistake(
        "scores-to-base-2",
        "scale",
        "The exponential of the scores is taken to base 2.",
        with_inputs(scale=lambda x, c: x * LN_2),
        NEEDS,
    ),
    Mistake(
        "scores-exponentiated-in-float16",
        "precision",
        "The exponential of the scores is taken in float16, without their maximum.",
        exponentials_in_float16,
        SOFTMAX,
    ),
    Mistake(
        "blocks-not-rescaled",
        "chunk",
        "A new largest score does not rescale what was summed before.",
        not_rescaled,
        SOFTMAX,
    ),
    Mistake(
        "masked-scores-of-0",
        "causality",
        "Tokens to come have a score of 0 instead of minus infinity.",
        late_mask,
        SOFTMAX,
        seen_by=("golden", "prefix"),
    ),
    Mistake("window-of-16", "causality", "Only the last 16 tokens are seen.", window, SOFTMAX),
)
