"""A memory for each power of two: when the levels merge, and which weight reads them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import linattn
from linattn.algebra import outer, read
from linattn.levels import carried
from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.recall import with_token
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    piece,
    right,
    with_chunks,
    with_final_state,
    with_inputs,
    with_step,
)

NEEDS = ("level_scale",)
WEAK = (*NEEDS, "taken")


def nothing_taken(call: Call) -> Results:
    S, counts = call.state
    return right(replace(call, state=(S, 0 * counts)))


def counted_one_ahead(call: Call) -> Results:
    S, counts = call.state
    first = np.arange(counts.shape[-1]) == 0
    return right(replace(call, state=(S, np.where(first, 1 + 0 * counts, counts))))


def in_the_other_hierarchy(call: Call) -> Results:
    name = call.variant.name
    other = linattn.variant(name.removeprefix("strong_") if name.startswith("strong_") else f"strong_{name}")
    return right(replace(call, variant=replace(other, state=call.variant.state)))


def last_level_replaced(state: tuple, token: dict[str, Array]) -> Any:
    """What comes into the last level finds it empty."""
    S, taken = state
    full = taken[..., :-1].prod(axis=-1)[..., None, None, None]
    last = (np.arange(S.shape[-3]) == S.shape[-3] - 1)[:, None, None]
    return (S - full * last * S, taken), {}


def erased_at_level_zero(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """All levels decay; what is corrected stands beside what is written."""
    S, taken = carried(*state)
    S = np.exp(token["log_decay"])[..., :, None, None] * S
    error = token["v"] - read(token["k"], S.sum(axis=-3))
    S = np.concatenate([outer(token["k"], token["beta"] * error)[..., None, :, :], S[..., 1:, :, :]], axis=-3)
    return (S, taken), token["scale"] * read(token["q"], np.einsum("...l,...lkv->...kv", token["level_scale"], S))


def with_borders(border: Callable[[Array, Array], tuple[Array, Array]]) -> Callable[[Call], Results]:
    """Chunks hand over another state: ``border(S, counts)``."""

    def fold(call: Call, windows: list[slice]) -> Any:
        state, outputs = call.state, []
        for window in windows:
            state, output = piece(call, window, state if window.start == 0 else border(*state))
            outputs.append(output)
        return state, outputs

    return with_chunks(fold)


def merged(S: Array, counts: Array) -> tuple[Array, Array]:
    """All that a chunk leaves, in the first level above the token itself."""
    first = (np.arange(S.shape[-3]) == 1)[:, None, None]
    return first * S.sum(axis=-3, keepdims=True), counts


def summed_in_level_zero(x: Array, call: Call) -> Array:
    first = (np.arange(x.shape[-3]) == 0)[:, None, None] if x.ndim == 5 else 1
    return first * x.sum(axis=-3, keepdims=True) if x.ndim == 5 else x


def levels(identity: str, sentence: str, wrong: Callable[[Call], Results], *seen_in: str, **more: Any) -> Mistake:
    return Mistake(identity, "levels", sentence, wrong, **{"needs": NEEDS, "seen_in": seen_in} | more)


def with_weights(change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    return with_inputs(level_scale=change)


WEIGHTS = (
    levels("level-weights-ignored", "All levels are read with weight 1.", with_weights(lambda x, c: 0 * x + 1)),
    levels(
        "level-weights-shifted",
        "Level l is read with the weight of l + 1.",
        with_weights(lambda x, c: np.concatenate([x[..., 1:], x[..., -1:]], axis=-1)),
    ),
    levels(
        "levels-counted-from-one",
        "Level l is read with the weight of l - 1.",
        with_weights(lambda x, c: np.concatenate([x[..., :1], x[..., :-1]], axis=-1)),
    ),
    levels(
        "own-token-read-as-level-one",
        "The token itself is read with the weight of level 1.",
        with_weights(lambda x, c: np.concatenate([x[..., 1:2], x[..., 1:]], axis=-1)),
    ),
    levels(
        "level-weights-reversed",
        "The weights are those of the levels in reverse.",
        with_weights(lambda x, c: x[..., ::-1]),
    ),
    levels(
        "level-weight-of-the-own-token",
        "All levels are read with the weight of level 0.",
        with_weights(lambda x, c: np.repeat(x[..., :1], x.shape[-1], axis=-1)),
    ),
    levels(
        "level-weights-exponentiated",
        "The exponentials of the weights are taken.",
        with_weights(lambda x, c: np.exp(x)),
    ),
    levels(
        "level-weights-of-the-token-before",
        "Token t reads with the level weights of t - 1.",
        with_weights(lambda x, c: shifted(x, 1)),
    ),
    levels(
        "level-weights-of-the-next-token",
        "Token t reads with the level weights of t + 1.",
        with_weights(lambda x, c: shifted(x, -1)),
        "https://github.com/fla-org/flash-linear-attention/issues/1142",
        seen_by=("golden", "prefix"),
    ),
)

MERGES = (
    levels(
        "levels-never-carried",
        "Every token enters level 1, which hands nothing on.",
        with_token(lambda state, token: ((state[0], 0 * state[1]), {})),
    ),
    levels("levels-merged-a-token-early", "The count of tokens is one ahead.", counted_one_ahead),
    levels("taken-not-handed-over", "Which levels are taken is forgotten between calls.", nothing_taken),
    levels(
        "taken-restarted-in-every-chunk",
        "Which levels are taken is forgotten between chunks.",
        with_borders(lambda S, taken: (S, 0 * taken)),
        forms=("chunkwise",),
    ),
    levels(
        "levels-merged-between-chunks",
        "What a chunk leaves is all in level 1.",
        with_borders(merged),
        forms=("chunkwise",),
    ),
    levels(
        "last-level-replaced",
        "What comes into the last level replaces it.",
        with_token(last_level_replaced),
        needs=WEAK,
    ),
    levels(
        "levels-kept-by-halves",
        "A full level keeps half of what it holds, as in the strong hierarchy.",
        in_the_other_hierarchy,
        needs=WEAK,
    ),
    levels(
        "levels-handed-on-whole",
        "A full level hands on all it holds, as in the weak hierarchy.",
        in_the_other_hierarchy,
        needs=(*NEEDS, "halves"),
    ),
    levels(
        "levels-summed-out",
        "The state that is returned is the sum of all levels, in level 0.",
        with_final_state(summed_in_level_zero),
    ),
    levels(
        "erase-at-level-zero",
        "What all levels recall is erased in level 0, beside what is written.",
        with_step(erased_at_level_zero),
        needs=(*WEAK, "beta"),
    ),
)

HIERARCHY = WEIGHTS + MERGES
