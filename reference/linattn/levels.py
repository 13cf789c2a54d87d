"""A memory for each power of two of the past: what the log-linear variants share.

Level 0 holds the last token, level 1 + b the 2^b tokens of bit b in the number of those before it (a Fenwick tree).
``taken`` has a 1 for each level that holds tokens. All is linear in the memories, and written in + - * of the ones
and zeros, so that nothing branches on data.
"""

import numpy as np

from linattn.algebra import Array, outer, read


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


def with_token(S: Array, write: Array) -> Array:
    return np.concatenate([write[..., None, :, :], S[..., 1:, :, :]], axis=-3)


def over_levels(
    S: Array, moved: Array, taken: Array, scores: Array, queries: Array, keys: Array, v: Array, level_scale: Array
) -> tuple[tuple[Array, Array], Array]:
    """What the tokens would read of one memory, weighted by levels. ``queries`` see the incoming state S, which is
    ``moved`` after the last token; ``keys`` are those of the writes there.
    """
    L = taken.shape[-1]
    places, taken = level_of_each(taken, v.shape[-2])
    weights = np.einsum("...tl,...tls->...ts", level_scale, places)
    o = (scores * weights[..., L:]) @ v + read(queries, np.einsum("...tl,...lkv->...tkv", weights[..., :L], S))
    last = places[..., -1, :, :]
    S = np.einsum("...lm,...mkv->...lkv", last[..., :L], moved)
    return (S + np.einsum("...ls,...skv->...lkv", last[..., L:], outer(keys, v)), taken), o


def level_of_each(taken: Array, tokens: int) -> tuple[Array, Array]:
    """(..., T, L, L + T): at every token, in which level are the levels of the incoming state and the tokens."""
    L, rows = taken.shape[-1], []
    places = 0 * taken[..., None, None] + np.eye(L, L + tokens, dtype=np.int8)[..., None]
    for t in range(tokens):
        places, taken = carried(places, taken)
        token = 0 * places[..., 0, :, :] + np.eye(1, L + tokens, L + t, dtype=np.int8).T
        places = with_token(places, token)
        rows.append(places[..., 0])
    return np.stack(rows, axis=-3), taken
