"""Closed forms that several variants share: sums of weights that are exponentials, relative to their largest.

A state that is relative to exp(m) stands for itself times exp(m). The choice of m changes no output.
"""

import numpy as np

from linattn.algebra import Array, largest, maximum, transpose


def finite(exponent: Array) -> Array:
    """What may be subtracted from an exponent: 0 where this is log 0, beside which there is nothing but zeros."""
    return np.where(exponent == -np.inf, 0, exponent)


def stabilised(log_decay: Array, log_weight: Array, m: Array) -> tuple[Array, Array, Array]:
    """Weights of a sequence, (..., T, D), relative to exp(m_t) with m_t = max(m_{t-1} + g_t, i_t):

    ``between`` (..., T, T, D): [t, s] is the weight of what token s wrote, seen at token t; 0 for tokens to come;
    ``since_start`` (..., T, D): that of the incoming state, which is relative to exp(m);
    ``tops`` (..., T, D): m_t.

    Exponents are summed token by token, so that -inf is legal for decays and weights.
    """
    rows, starts, tops = [], [], []
    row, start, top = log_weight[..., :0, :], m[..., None, :], m[..., None, :]
    for t in range(log_weight.shape[-2]):
        decay, weight = log_decay[..., t : t + 1, :], log_weight[..., t : t + 1, :]
        row, start, top = np.concatenate([row + decay, weight], axis=-2), start + decay, maximum(top + decay, weight)
        future = np.zeros(log_weight[..., t + 1 :, :].shape, dtype=np.int8)
        rows.append(np.concatenate([np.exp(row - finite(top)), future], axis=-2))
        starts.append(np.exp(start - finite(top)))
        tops.append(top)
    return np.stack(rows, axis=-3), np.concatenate(starts, axis=-2), np.concatenate(tops, axis=-2)


def entering(n: Array, m: Array, score: Array) -> tuple[Array, Array, Array, Array]:
    """One more score of a softmax over time with total weight n exp(m): what it keeps of its mean, what it adds."""
    top = maximum(m, score)
    kept, added = np.exp(m - finite(top)) * n, np.exp(score - finite(top))
    return kept / (kept + added), added / (kept + added), kept + added, top


def softmax_over_time(n: Array, m: Array, scores: Array) -> tuple[Array, Array, Array, Array]:
    """The same for a sequence: the weights (..., T, T, D), what is left of the incoming mean, total weights, m_t."""
    between, since_start, tops = stabilised(np.zeros_like(scores), scores, m)
    kept = since_start * n[..., None, :]
    total = kept + between.sum(axis=-2)
    return between / total[..., :, None, :], kept / total, total, tops


def weighted(S: Array, q: Array, v: Array, weights: Array, kept: Array) -> tuple[Array, Array]:
    """The memory after, and o_t = (kept[t] S + sum_s weights[t, s] v_s^T)^T q_t: all memories that only decay."""
    o = (kept * q) @ S + np.einsum("...td,...tsd->...ts", q, weights) @ v
    return kept[..., -1, :, None] * S + transpose(weights[..., -1, :, :]) @ v, o


def softmax(x: Array) -> Array:
    """Over the last axis."""
    weights = np.exp(x - largest(x))
    return weights / weights.sum(axis=-1, keepdims=True)


def causal_softmax(scores: Array, past: int) -> Array:
    """Over the scores that a token sees, (..., T, past + T): those of the past, and up to its own one."""
    tokens = scores.shape[-2]
    seen = np.tri(tokens, past + tokens, past, dtype=np.int8)
    visible = np.where(seen, scores, scores[..., :1])  # which every token sees
    weights = seen * np.exp(visible - largest(visible))
    return weights / weights.sum(axis=-1, keepdims=True)


def with_ones(v: Array) -> Array:
    """One more value, which is 1: its sum is the normaliser."""
    return np.concatenate([v, 1 + 0 * v[..., :1]], axis=-1)
