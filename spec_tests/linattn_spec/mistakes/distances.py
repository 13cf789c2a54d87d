"""Softmax attention whose weights change with the distance: ALiBi, FoX."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import largest, read, transpose
from linattn.variants.fox import relative
from linattn_spec.mistakes.cache import scores_of, weighted
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_all_heads, with_inputs, with_step

SLOPE = ("slope", "keys")
KEPT = ("kept", "log_decay", "scale")


def of(
    needs: tuple[str, ...], identity: str, sentence: str, wrong: Callable[[Call], Results], *seen_in: str
) -> Mistake:
    return Mistake(identity, "scores", sentence, wrong, needs, seen_in=seen_in)


# -- ALiBi -------------------------------------------------------------------------------------------------------------


def with_distance(distance: Callable[[Array, Array], Array]) -> Callable[[Call], Results]:
    """Another ``distance(query, key)`` of places, counted from the first of the cache."""

    def wrong(call: Call) -> Results:
        scores, visible, values = scores_of(call)
        key = np.arange(scores.shape[-1])
        query = key[-scores.shape[-2] :, None]
        slope = with_all_heads(call).inputs["slope"][..., None]
        scores = np.where(visible, scores - slope * distance(query, key).astype(scores.dtype), -np.inf)
        return weighted(call, np.exp(scores - scores.max(axis=-1, keepdims=True)), values)

    return wrong


def from_the_call(query: Array, key: Array) -> Array:
    """Whatever is in the cache counts as the place before the first token."""
    return query - np.maximum(key, query.min() - 1)


ALIBI = (
    of(SLOPE, "slope-ignored", "The scores do not fall with the distance.", with_inputs(slope=lambda x, c: 0 * x)),
    of(SLOPE, "slope-negated", "The scores rise with the distance.", with_inputs(slope=lambda x, c: -x)),
    of(
        SLOPE,
        "slope-doubled",
        "The slopes of 8 heads begin at 1, not at 1/2.",
        with_inputs(slope=lambda x, c: 2 * x),
        "https://github.com/paiml/aprender/pull/2143",
    ),
    of(
        SLOPE,
        "slopes-reversed",
        "The heads have each other's slopes, the last first.",
        with_inputs(slope=lambda x, c: x[::-1]),
        "https://github.com/ml-explore/mlx/pull/3071",
    ),
    of(
        SLOPE,
        "slope-scaled",
        "The scale multiplies the slope too.",
        with_inputs(slope=lambda x, c: x * c.inputs["scale"]),
    ),
    of(
        SLOPE,
        "slope-to-base-2",
        "The slope is that of a power of two.",
        with_inputs(slope=lambda x, c: x * np.log(2.0).astype(x.dtype)),
    ),
    of(
        SLOPE,
        "distances-without-the-cache",
        "What is in the cache has no distances of its own.",
        with_distance(from_the_call),
    ),
    of(
        SLOPE,
        "distances-rooted",
        "The root of the distance is taken.",
        with_distance(lambda query, key: np.abs(query - key) ** 0.5),
    ),
)

# -- forgetting attention ----------------------------------------------------------------------------------------------


def with_kept(read_out: Callable[[Array, Array, dict[str, Array]], Array]) -> Callable[[Call], Results]:
    """Other weights of the right cache: ``read_out(scores, kept, token)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (keys, values, kept), _ = step(*state, **token)
        scores = token["scale"] * read(token["q"], transpose(keys))
        return (keys, values, kept), read(read_out(scores, kept[..., 0], token), values)

    return with_step(changed)


def shares(weights: Array) -> Array:
    return weights / weights.sum(axis=-1, keepdims=True)


def softmax(scores: Array) -> Array:
    return shares(np.exp(scores - largest(scores)))


def with_power(scores: Array, kept: Array, token: dict[str, Array]) -> Array:
    return shares(relative(scores, kept ** token["scale"], scores[..., -1:]))


def own_gate_too(scores: Array, kept: Array, token: dict[str, Array]) -> Array:
    """The token's own key has decayed, with all others."""
    own = np.exp(token["log_decay"]) + 2.0**-20
    return shares(relative(scores, np.concatenate([kept[..., :-1], own * kept[..., -1:]], axis=-1), scores[..., -1:]))


def cache_not_decayed(call: Call) -> Results:
    keys, values, kept = call.state
    return right(replace(call, state=(keys, values, 0 * kept + 1)))


FOX = (
    of(
        KEPT,
        "forgetting-after-the-softmax",
        "The weights decay after the softmax, and do not sum to 1.",
        with_kept(lambda s, kept, t: softmax(s) * kept),
    ),
    of(KEPT, "forgetting-scaled", "The scale multiplies the log decays too.", with_kept(with_power)),
    of(KEPT, "own-key-decayed", "The gate of a token acts on its own key.", with_kept(own_gate_too)),
    of(KEPT, "decay-of-the-cache-lost", "What is left of the keys in the cache is taken for 1.", cache_not_decayed),
)

DISTANCES = ALIBI + FOX
