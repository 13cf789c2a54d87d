r"""Parallax: softmax attention less the covariance of the values with a linear function of the keys.

.. math::

    o_t &= \bar v_t - \sum_{s \le t} p_{ts}\, \bigl(r_t^\top k_s - r_t^\top \bar k_t\bigr)\, v_s \\
    p_{ts} &= \frac{e^{\sigma\, q_t^\top k_s}}{\sum_{u \le t} e^{\sigma\, q_t^\top k_u}}, \qquad
    \bar k_t = \sum_{s \le t} p_{ts}\, k_s, \quad \bar v_t = \sum_{s \le t} p_{ts}\, v_s

Local linear attention (LLA) subtracts 1 + eta times this covariance, with the solution of a linear system for every
query in the place of r. Here r is a probe, the paper's rho = W_R x, and eta, which is unbounded without that solution,
is left out. The scale, one over the paper's bandwidth h, is on the scores of q alone. The weights may be negative, and
still add up to 1. The state is the cache of softmax attention.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, largest, read, transpose
from linattn.families import causal_softmax, softmax
from linattn.inputs import KEY, QUERY, VALUE
from linattn.record import Source, Variant
from linattn.variants import softmax_attention


def step(keys, values, q, r, k, v, scale):
    """Zuo et al., (14), and line 14 of algorithm 1: two sums of values, two of weights."""
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, v[..., None, :]], axis=-2)
    scores = scale * read(q, transpose(keys))  # (..., P)
    weights = np.exp(scores - largest(scores))
    slopes = weights * read(r, transpose(keys))
    total, slope = weights.sum(axis=-1, keepdims=True), slopes.sum(axis=-1, keepdims=True)
    mean = read(weights, values) / total
    return (keys, values), mean * (1 + slope / total) - read(slopes, values) / total  # READ


def parallel(keys, values, q, r, k, v, scale):
    """Equation (8): the covariance about the mean key."""
    past = keys.shape[-2]
    keys = np.concatenate([keys, k], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    weights = causal_softmax(scale * (q @ transpose(keys)), past)  # (..., T, P + T)
    return (keys, values), less_covariance(weights, r, keys, values)


def less_covariance(weights, r, keys, values):
    slopes = r @ transpose(keys) - dot(r, weights @ keys)
    return (weights * (1 - slopes)) @ values


def bidirectional(q, r, k, v, scale):
    """The sums of ``step``, with every query before all keys."""
    scores = scale * (q @ transpose(k))
    weights = np.exp(scores - largest(scores))
    slopes = weights * (r @ transpose(k))
    total, slope = weights.sum(axis=-1, keepdims=True), slopes.sum(axis=-1, keepdims=True)
    return weights @ v / total * (1 + slope / total) - slopes @ v / total


def bidirectional_covariance(q, r, k, v, scale):
    return less_covariance(softmax(scale * (q @ transpose(k))), r, k, v)


CACHE = softmax_attention.VARIANT.state
VARIANT = Variant(
    name="parallax",
    title="Parallax",
    summary="softmax attention less the covariance of the values with a linear function of the keys",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_covariance),
    inputs=(
        QUERY,
        replace(QUERY, name="r", doc="second query: the probe"),
        KEY,
        VALUE,
        softmax_attention.VARIANT.input("scale"),
    ),
    state=(replace(CACHE[0], kind="number"), CACHE[1]),
    constraints=(
        "C1  r = 0 is softmax attention.",
        "C2  T = 1 from the empty state returns v.",
        "C3  The weights add up to 1; they may be negative, and the output may leave the convex hull of the values.",
        "C4  One vector added to all keys, or one value throughout, makes no difference.",
        "C5  It is softmax attention less its derivative by the scaled query in the direction r.",
    ),
    sources=(
        Source(
            "Parallax: Parameterized Local Linear Attention for Language Modeling",
            "Zuo, Pai, Zeng, Dewulf, Hu, Wang",
            2026,
            "2605.29157",
            "equations (3), (7), (8) and (14), sections 3.1-3.3, algorithm 1",
        ),
    ),
    aliases={"fla": "parallax"},
)
