r"""Attention with bounded memory control (ABC): softmax attention over M slots, each a softmax over time.

.. math::

    y_t &= \log \sum_{r \le t} e^{s_r} \in \mathbb{R}^M \\
    \tilde K_t &= \mathrm{diag}(e^{y_{t-1} - y_t}) \tilde K_{t-1} + e^{s_t - y_t} k_t^\top \\
    \tilde V_t &= \mathrm{diag}(e^{y_{t-1} - y_t}) \tilde V_{t-1} + e^{s_t - y_t} v_t^\top \\
    o_t &= \tilde V_t^\top \mathrm{softmax}(\sigma\, \tilde K_t q_t)

Each slot holds weighted means of all keys and of all values, as in appendix B.1 of the paper and in fla: the sums so
far over the sum of the weights so far. The paper also divides every weight by the sum up to its own token (footnote 5,
table 1). Added up as in its (5), or in arXiv:2409.07146, (3) and (4), those are never scaled down: ``never_rescaled``,
which is gated slot attention with decays 1. The paper takes the two for one, as they are where a single total divides
all weights: in its (7), which is not causal. The state has y as y = m + log n, with the largest score so far m and the
total weight n relative to it. fla's state has neither: its sequences cannot be continued.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read, transpose
from linattn.families import entering, softmax, softmax_over_time
from linattn.inputs import KEY, QUERY, SCALE, VALUE
from linattn.record import Input, Source, State, Variant
from linattn.variants.gsa import SLOT_KEYS, SLOT_VALUES, two_passes


def step(keys, values, n, m, q, k, v, s, scale):
    """Peng et al., appendix B.1, as in fla's ``naive_cumsum_abc``, one token at a time."""
    keep, write, n, m = entering(n, m, s)
    keys = keep[..., :, None] * keys + outer(write, k)  # WRITE
    values = keep[..., :, None] * values + outer(write, v)
    return (keys, values, n, m), read(softmax(scale * read(q, transpose(keys))), values)  # READ


def never_rescaled(keys, values, n, m, q, k, v, s, scale):
    """One step of (5) with the weights of footnote 5, which stay what they were when the total grows."""
    _, write, n, m = entering(n, m, s)
    keys, values = keys + outer(write, k), values + outer(write, v)
    return (keys, values, n, m), read(softmax(scale * read(q, transpose(keys))), values)


def parallel(keys, values, n, m, q, k, v, s, scale):
    weights, kept, total, tops = softmax_over_time(n, m, s)
    (keys, values), o = two_passes(keys, values, q, k, v, weights, kept, scale)
    return (keys, values, total[..., -1, :], tops[..., -1, :]), o


def bidirectional(q, k, v, s, scale):
    """Equations (3) and (4), with the weights of section 4: all queries read what all tokens have written."""
    weights = softmax(transpose(s))  # (..., M, T)
    return softmax(scale * (q @ transpose(weights @ k))) @ (weights @ v)


def bidirectional_quadratic(q, k, v, s, scale):
    """Scores of all tokens before those of the slots; the weights are what the last token finds."""
    weights = softmax_over_time(0 * k[..., 0, :1], s[..., 0, :], s)[0][..., -1, :, :]  # (..., T, M)
    return (softmax(scale * ((q @ transpose(k)) @ weights)) @ transpose(weights)) @ v


VARIANT = Variant(
    name="abc",
    title="Attention with bounded memory control",
    summary="softmax attention over a fixed number of slots, each a softmax over time",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_quadratic),
    inputs=(QUERY, KEY, VALUE, Input("s", "T M", "score of each slot", heads="k", kind="log"), SCALE),
    state=(
        replace(SLOT_KEYS, doc="the key of each slot: a weighted mean of the keys"),
        replace(SLOT_VALUES, doc="the value of each slot: a weighted mean of the values"),
        State("n", "M", "total weight of each slot, relative to exp(m)", relative_to="m", typical="positive"),
        State("m", "M", "stabiliser: the largest score so far of each slot", initial=-np.inf, kind="log"),
    ),
    exact="output, state and stabiliser, with exp and max as any functions of their arguments",
    exempt=("neutral", "scale"),
    constraints=(
        "C1  T = 1 from the empty state returns v.",
        "C2  The output lies in the convex hull of the values seen, from the empty state.",
        "C3  From the empty state a constant added to all scores of a slot changes nothing but m.",
        "C4  It is gated slot attention with log_decay = y_{t-1} - y_t and s = exp(s - y_t).",
        "C5  With one slot the output does not depend on q: it is LightNet with one channel and q = 1.",
    ),
    sources=(
        Source(
            "ABC: Attention with Bounded-memory Control",
            "Peng et al.",
            2021,
            "2110.02488",
            "equations (4), (5) and (7), footnote 5, table 1, appendix B.1; the scale as in fla's naive_cumsum_abc",
        ),
    ),
    aliases={"fla": "abc"},
)
