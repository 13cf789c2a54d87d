"""A memory for each power of two of the past: what the log-linear variants share.

Level 0 holds the last token. In the weak hierarchy level 1 + b holds the 2^b tokens of bit b in the number of those
before it (a Fenwick tree), and ``taken`` has a 1 for each level that holds tokens. In the strong one it holds as many
at most, and keeps half of them when it hands on the others; ``halves`` counts. All is linear in the memories, and
written in + - * of the counts, so that nothing branches on data.
"""

from collections.abc import Callable

import numpy as np

from linattn.algebra import Array, outer, read

Carry = Callable[[Array, Array], tuple[Array, Array]]


def carried(S: Array, taken: Array) -> tuple[Array, Array]:
    """Level 0 enters the tree: each level hands on all it has if it was taken and something comes from below."""
    block, carry = S[..., 0, :, :], taken[..., :1]
    levels, flags = [0 * block], [1 + 0 * carry]
    for level in range(1, taken.shape[-1]):
        here, total = taken[..., level : level + 1], S[..., level, :, :] + block
        moves = carry * here if level < taken.shape[-1] - 1 else 0 * carry
        levels.append((1 - moves)[..., None] * total)
        flags.append(here + carry - 2 * carry * here)
        block, carry = moves[..., None] * total, moves
    return np.stack(levels, axis=-3), np.concatenate(flags, axis=-1)


def carried_by_halves(S: Array, halves: Array) -> tuple[Array, Array]:
    """Level 0 enters the tree: a full level hands on all it had and keeps what comes from below. Level 1 is full with
    one token, the others with two halves.
    """
    block, carry = S[..., 0, :, :], halves[..., :1]
    levels, counts = [0 * block], [1 + 0 * carry]
    for level in range(1, halves.shape[-1]):
        here, count = S[..., level, :, :], halves[..., level : level + 1]
        full = carry * (count if level == 1 else count * (count - 1) / 2)
        moves = full if level < halves.shape[-1] - 1 else 0 * full
        levels.append((1 - moves)[..., None] * here + block)
        counts.append(count + carry - (full if level == 1 else 2 * full))
        block, carry = moves[..., None] * here, moves
    return np.stack(levels, axis=-3), np.concatenate(counts, axis=-1)


def with_token(S: Array, write: Array) -> Array:
    return np.concatenate([write[..., None, :, :], S[..., 1:, :, :]], axis=-3)


def over_levels(
    carry: Carry,
    S: Array,
    moved: Array,
    counts: Array,
    scores: Array,
    queries: Array,
    keys: Array,
    v: Array,
    level_scale: Array,
) -> tuple[tuple[Array, Array], Array]:
    """What the tokens would read of one memory, weighted by levels. ``queries`` see the incoming state S, which is
    ``moved`` after the last token; ``keys`` are those of the writes there, ``counts`` and ``carry`` of the hierarchy.
    """
    L = counts.shape[-1]
    places, counts = level_of_each(counts, v.shape[-2], carry)
    weights = np.einsum("...tl,...tls->...ts", level_scale, places)
    o = (scores * weights[..., L:]) @ v + read(queries, np.einsum("...tl,...lkv->...tkv", weights[..., :L], S))
    last = places[..., -1, :, :]
    S = np.einsum("...lm,...mkv->...lkv", last[..., :L], moved)
    return (S + np.einsum("...ls,...skv->...lkv", last[..., L:], outer(keys, v)), counts), o


def level_of_each(counts: Array, tokens: int, carry: Carry) -> tuple[Array, Array]:
    """(..., T, L, L + T): at every token, in which level are the levels of the incoming state and the tokens."""
    L, rows = counts.shape[-1], []
    places = 0 * counts[..., None, None] + np.eye(L, L + tokens, dtype=np.int8)[..., None]
    for t in range(tokens):
        places, counts = carry(places, counts)
        token = 0 * places[..., 0, :, :] + np.eye(1, L + tokens, L + t, dtype=np.int8).T
        places = with_token(places, token)
        rows.append(places[..., 0])
    return np.stack(rows, axis=-3), counts
