r"""LightNet: gated linear attention whose gates make each channel a softmax over time.

.. math::

    y_t &= \log \sum_{s \le t} e^{k_s} \in \mathbb{R}^K \\
    S_t &= \mathrm{diag}(e^{y_{t-1} - y_t}) S_{t-1} + e^{k_t - y_t} v_t^\top \\
    o_t &= \sigma\, S_t^\top q_t

What is kept and what is written add up to 1 in each channel. The paper's names: s = e^y, and a k with a bar for what
is written. q comes after Swish, a norm and a gate come after o, and there is no scale. The state has y as y = m + log
n, with the largest key so far m and the total weight n relative to it. fla has y itself; up to and with the first
token that has a weight its log decay is 0. In the first author's notes exp(k - y) multiplies another key, which here
is 1. The first author's layer in xmixers starts with y = 0, a weight of 1 that holds nothing.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.families import entering, softmax_over_time, weighted
from linattn.inputs import KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, State, Variant


def step(S, n, m, q, k, v, scale):
    """Qin et al., section 4.1, with exp(y_{t-1} - y_t) for its 1 - exp(k_t - y_t)."""
    keep, write, n, m = entering(n, m, k)
    S = keep[..., :, None] * S  # DECAY
    S = S + outer(write, v)  # WRITE
    return (S, n, m), scale * read(q, S)  # READ


def parallel(S, n, m, q, k, v, scale):
    weights, kept, total, tops = softmax_over_time(n, m, k)
    S, o = weighted(S, scale * q, v, weights, kept)
    return (S, total[..., -1, :], tops[..., -1, :]), o


VARIANT = Variant(
    name="lightnet",
    title="LightNet",
    summary="gated linear attention with a softmax over time in each key channel",
    step=step,
    parallel=parallel,
    inputs=(QUERY, replace(KEY, doc="key: the log weight of the value in each channel", kind="log"), VALUE, SCALE),
    state=(
        MEMORY,
        State("n", "K", "total weight of each channel, relative to exp(m)", relative_to="m", typical="positive"),
        State("m", "K", "stabiliser: the largest key so far in each channel", initial=-np.inf, kind="log"),
    ),
    exact="output, state and stabiliser",
    exempt=("neutral",),
    constraints=(
        "C1  T = 1 from the empty state returns scale (sum of q) v.",
        "C2  From the empty state a constant added to all keys of a channel changes nothing but m.",
        "C3  Every row of the state is a weighted mean of the values seen, from the empty state.",
        "C4  It is gated linear attention with log_decay = y_{t-1} - y_t and keys exp(k - y_t), which add up to 1.",
        "C5  Equal keys throughout give the running mean of the values.",
    ),
    sources=(
        Source(
            "You Only Scan Once: Efficient Multi-dimension Sequential Modeling with LightNet",
            "Qin, Mao, Shen, Li, Zhang, Dai, Zhong",
            2024,
            "2405.21022",
            "theorem 3.1, proposition 3.2, section 4.1",
        ),
    ),
    aliases={"fla": "lightnet (state: S and y), LightNetAttention (layer)"},
)
