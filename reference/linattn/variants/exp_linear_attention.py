r"""Linear attention with the exponential as feature map and a running maximum: no key can overflow.

.. math::

    m_t &= \max(m_{t-1},\, k_t) \in \mathbb{R}^K \\
    S_t &= \mathrm{diag}(e^{m_{t-1} - m_t}) S_{t-1} + e^{k_t - m_t} v_t^\top \\
    z_t &= e^{m_{t-1} - m_t} \odot z_{t-1} + e^{k_t - m_t} \\
    o_t &= \frac{S_t^\top p_t}{z_t^\top p_t}, \qquad p_t = e^{q_t + m_t - \max(q_t + m_t)}

The kernel is sum_d exp(q_d + k_d), which is not softmax attention's exp(q.k). The maximum of a channel over the
tokens cancels, as does that of a query; a maximum over the channels of one key, as libraries subtract, does not: it
weighs the keys anew. There is no scale and no eps.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, largest, maximum, outer, read
from linattn.families import stabilised, weighted, with_ones
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Source, State, Variant


def step(S, z, m, q, k, v):
    """Katharopoulos et al., equations (18), (19) and (12), with exp(q) and exp(k), relative to the running maximum."""
    before, m = m, maximum(m, k)
    keep, write = np.exp(before - m), np.exp(k - m)
    S = keep[..., :, None] * S + outer(write, v)  # WRITE
    z = keep * z + write
    weights = query_weights(q, m)
    return (S, z, m), read(weights, S) / dot(weights, z)  # READ


def query_weights(q, m):
    return np.exp(q + m - largest(q + m))


def parallel(S, z, m, q, k, v):
    between, since_start, tops = stabilised(np.zeros_like(k), k, m)
    start = np.concatenate([S, z[..., :, None]], axis=-1)
    final, o = weighted(start, query_weights(q, tops), with_ones(v), between, since_start)
    return (final[..., :-1], final[..., -1], tops[..., -1, :]), o[..., :-1] / o[..., -1:]


VARIANT = Variant(
    name="exp_linear_attention",
    title="Exponential linear attention",
    summary="a weighted mean of all values so far, with weights sum_d exp(q_d + k_d)",
    step=step,
    parallel=parallel,
    inputs=(
        replace(QUERY, doc="query, before the exponential", kind="log"),
        replace(KEY, doc="key, before the exponential", kind="log"),
        VALUE,
    ),
    state=(
        replace(MEMORY, doc="associative memory, relative to exp(m): keys are rows, values columns", relative_to="m"),
        State("z", "K", "normaliser, relative to exp(m): the sum of exp(k)", relative_to="m", typical="positive"),
        State("m", "K", "stabiliser: the largest key so far in each channel", initial=-np.inf, kind="log"),
    ),
    exact="output, state and stabiliser",
    exempt=("neutral",),
    constraints=(
        "C1  T = 1 from the empty state returns v.",
        "C2  The output lies in the convex hull of the values seen, from the empty state.",
        "C3  A constant added to a query, or to all keys of an empty state, changes no output.",
        "C4  It is normalised linear attention on exp(q) and exp(k) with eps = 0.",
        "C5  A constant added to one key changes later outputs: a maximum per key does not cancel.",
    ),
    sources=(
        Source(
            "Transformers are RNNs",
            "Katharopoulos, Vyas, Pappas, Fleuret",
            2020,
            "2006.16236",
            "equations (9)-(12): any non-negative feature map",
        ),
        Source(
            "Online normalizer calculation for softmax",
            "Milakov, Gimelshein",
            2018,
            "1805.02867",
            "algorithm 3: the running maximum",
        ),
    ),
)
