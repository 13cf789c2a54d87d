"""Stick-breaking attention: who takes which share of what is left."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import read, sigmoid, transpose
from linattn_spec.mistakes.distances import of, shares, softmax
from linattn_spec.mistakes.gates import LN_2
from linattn_spec.mistakes.record import CHUNK, Array, Call, Mistake, Results, with_step

STICK = ("keys", "read strictly exclusive")


def taken(scores: Array, left: Callable[[Array], Array] = lambda scores: sigmoid(-scores)) -> Array:
    """The shares of the keys of a cache, from the last one on."""
    rest = np.cumprod(left(scores)[..., ::-1], axis=-1)[..., ::-1]
    return sigmoid(scores) * np.concatenate([rest[..., 1:], 0 * rest[..., :1] + 1], axis=-1)


def all_above(scores: Array) -> Array:
    """A softplus that is its argument above 15, in base 2: such a key takes all there is."""
    whole = scores > 15 * LN_2
    rest = np.cumprod(np.where(whole, np.exp(-scores), sigmoid(-scores))[..., ::-1], axis=-1)[..., ::-1]
    return np.where(whole, 1, sigmoid(scores)) * np.concatenate([rest[..., 1:], 0 * rest[..., :1] + 1], axis=-1)


def with_shares(share: Callable[[Array], Array]) -> Callable[[Call], Results]:
    """Other weights of the values before the token: ``share(scores)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        after, output = step(*state, **token)
        if not state[0].shape[-2]:
            return after, output
        return after, read(share(token["scale"] * read(token["q"], transpose(state[0]))), state[1])

    return with_step(changed)


def own_token_too(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, step(*after, **token)[1]


def rest_to_the_token(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, output = step(*state, **token)
    given = step(state[0], 0 * state[1] + 1, **token)[1] if state[0].shape[-2] else 0 * output
    return after, output + (1 - given) * token["v"]


def oldest_first(scores: Array) -> Array:
    return taken(scores[..., ::-1])[..., ::-1]


def own_share_taken_first(scores: Array) -> Array:
    return taken(scores) * sigmoid(-scores)


def blocks_apart(scores: Array) -> Array:
    """Every block of keys breaks a stick of its own."""
    return np.concatenate([taken(scores[..., s : s + CHUNK]) for s in range(0, scores.shape[-1], CHUNK)], axis=-1)


STICKS = (
    of(STICK, "stick-broken-by-the-token-too", "A token sees itself.", with_step(own_token_too)),
    of(
        STICK,
        "stick-rest-to-the-token",
        "What is left of the stick goes to the token's own value.",
        with_step(rest_to_the_token),
    ),
    of(STICK, "stick-broken-from-the-oldest", "The oldest key breaks the stick first.", with_shares(oldest_first)),
    of(
        STICK,
        "stick-broken-twice-by-a-key",
        "A key takes its share of what it has left itself.",
        with_shares(own_share_taken_first),
    ),
    of(
        STICK,
        "stick-shares-normalised",
        "The shares are divided by their sum.",
        with_shares(lambda s: shares(taken(s) + 2.0**-20)),
    ),
    of(STICK, "stick-not-broken", "Every key takes its share of the whole stick.", with_shares(sigmoid)),
    of(STICK, "stick-for-a-softmax", "The weights are those of a softmax.", with_shares(softmax)),
    of(STICK, "stick-of-every-block", "Every block of keys has a stick of its own.", with_shares(blocks_apart)),
    of(
        STICK,
        "stick-left-by-exponentials",
        "What a key leaves is exp(-exp(score)).",
        with_shares(lambda s: taken(s, lambda x: np.exp(-np.exp(np.minimum(x, 10))))),
    ),
    Mistake(
        "stick-taken-whole-above-15-bits",
        "precision",
        "A key whose score exceeds 15 bits, or 10.4, takes all that is left: the softplus is its argument there.",
        with_shares(all_above),
        STICK,
        profiles=("fp32",),
    ),
)
