"""Softmax attention whose keys decay, or whose values are corrected by the slope of the keys: Wall, Parallax."""

from typing import Any

import numpy as np

from linattn.algebra import read, transpose
from linattn_spec.mistakes.distances import of, shares, softmax
from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.record import Array, Call, Results, right, with_all_heads, with_inputs, with_step

DECAYED = ("keys", "log_decay per channel")
SLOPE = ("keys", "r")

# -- Wall attention ----------------------------------------------------------------------------------------------------


def own_key_decayed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    return step(*state, **{**token, "k": np.exp(token["log_decay"]) * token["k"]})


def decayed_late(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """The query meets the keys before they have decayed; the cache is right."""
    _, output = step(*state, **{**token, "log_decay": 0 * np.maximum(token["log_decay"], -1)})
    return step(*state, **token)[0], output


def stored_as_they_came(call: Call) -> Results:
    full, results = with_all_heads(call), right(call)
    keys = np.concatenate([full.state[0], full.inputs["k"]], axis=2)
    return {**results, "final_state/keys": keys[:, :: keys.shape[1] // results["final_state/keys"].shape[1]]}


def decay_outside(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """The scores themselves fall, by what the keys of the cache lose in the mean of their channels."""
    (keys, values), _ = step(*state, **token)
    scores = token["scale"] * read(token["q"], transpose(np.concatenate([state[0], token["k"][..., None, :]], axis=-2)))
    lost = np.maximum(token["log_decay"], -1e4).mean(axis=-1, keepdims=True)
    scores = np.concatenate([scores[..., :-1] + lost, scores[..., -1:]], axis=-1)
    return (keys, values), read(softmax(scores), values)


WALL = (
    of(
        DECAYED,
        "key-decay-of-the-mean-channel",
        "All channels have one decay, the mean of theirs.",
        with_inputs(
            log_decay=lambda x, c: np.repeat(np.maximum(x, -1e4).mean(axis=-1, keepdims=True), x.shape[-1], -1)
        ),
    ),
    of(DECAYED, "key-decay-outside-the-softmax", "The decays are added to the scores.", with_step(decay_outside)),
    of(
        DECAYED,
        "key-decays-on-arrival",
        "The gate of a token acts on the key it stores.",
        with_step(own_key_decayed),
    ),
    of(
        DECAYED,
        "key-decays-after-the-read",
        "A token reads keys that its own gate has spared.",
        with_step(decayed_late),
    ),
    of(DECAYED, "keys-returned-as-they-came", "The keys that are returned have not decayed.", stored_as_they_came),
)

# -- Parallax ----------------------------------------------------------------------------------------------------------


def with_weights(change: Any) -> Any:
    """Other weights of the values: ``change(weights, slopes, scores, token)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (keys, values), _ = step(*state, **token)
        scores = token["scale"] * read(token["q"], transpose(keys))
        weights, slopes = softmax(scores), read(token["r"], transpose(keys))
        return (keys, values), read(change(weights, slopes, scores, token), values)

    return with_step(changed)


def about_the_mean(weights: Array, slopes: Array) -> Array:
    return slopes - (weights * slopes).sum(axis=-1, keepdims=True)


PARALLAX = (
    of(SLOPE, "slope-of-the-keys-missing", "The correction is missing.", with_inputs(r=lambda x, c: 0 * x)),
    of(SLOPE, "slope-of-the-keys-negated", "The covariance is added.", with_inputs(r=lambda x, c: -x)),
    of(
        SLOPE,
        "slope-of-the-keys-scaled",
        "The scale multiplies the second query too.",
        with_inputs(r=lambda x, c: x * c.inputs["scale"]),
    ),
    of(
        SLOPE,
        "slope-query-a-token-early",
        "The second query is that of the token before.",
        with_inputs(r=lambda x, c: shifted(x, 1)),
    ),
    of(
        SLOPE,
        "slope-and-query-exchanged",
        "The two queries are exchanged.",
        with_inputs(q=lambda x, c: c.inputs["r"], r=lambda x, c: c.inputs["q"]),
    ),
    of(
        SLOPE,
        "slope-about-the-origin",
        "The covariance is taken about 0: the mean of the slopes is not given back.",
        with_weights(lambda w, slopes, s, t: w * (1 - slopes)),
    ),
    of(
        SLOPE,
        "slope-about-the-plain-mean",
        "The covariance is taken about the mean of all keys, each with the same weight.",
        with_weights(lambda w, slopes, s, t: w * (1 - slopes + slopes.mean(axis=-1, keepdims=True))),
    ),
    of(
        SLOPE,
        "slope-in-the-exponent",
        "The slopes are taken from the scores.",
        with_weights(lambda w, slopes, s, t: softmax(s - about_the_mean(w, slopes))),
    ),
    of(
        SLOPE,
        "slope-weights-kept-positive",
        "No weight of a value may be negative.",
        with_weights(lambda w, slopes, s, t: shares(w * np.maximum(1 - about_the_mean(w, slopes), 2.0**-20))),
    ),
)

CACHED_KEYS = WALL + PARALLAX
