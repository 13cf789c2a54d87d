r"""RWKV-4 (the WKV operator): in each channel a mean of all values so far, with weights exp(k) that decay.

.. math::

    m_t &= \max(w + m_{t-1},\, k_t), \qquad a_t = e^{w + m_{t-1} - m_t}, \quad b_t = e^{k_t - m_t} \\
    N_t &= a_t N_{t-1} + b_t v_t, \qquad D_t = a_t D_{t-1} + b_t \\
    o_t &= \frac{e^{m_{t-1} - \tau_t} N_{t-1} + e^{u + k_t - \tau_t} v_t}
                {e^{m_{t-1} - \tau_t} D_{t-1} + e^{u + k_t - \tau_t}}, \qquad \tau_t = \max(m_{t-1},\, u + k_t)

There is no query and no axis of keys: everything is per channel. w <= 0 is the log decay, the negative of the w in
the paper, whose a', b' and p are N, D and m here; u is the bonus of the token itself. The read is exclusive: a token
sees what is before it, and itself by the bonus. The receptance is outside. N and D are relative to e^m; code starts
with m = -1e30 or -1e38 in place of -inf.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import maximum
from linattn.families import stabilised
from linattn.inputs import LOG_DECAY, VALUE
from linattn.record import Input, Source, State, Variant


def step(N, D, m, k, v, log_decay, u):
    """Peng et al. 2023, equations (23)-(28)."""
    o = mean(N, D, m, k, v, u)  # READ
    before, m = log_decay + m, maximum(log_decay + m, k)
    keep, write = np.exp(before - m), np.exp(k - m)
    return (keep * N + write * v, keep * D + write, m), o  # DECAY, WRITE


def mean(N, D, m, k, v, u):
    """What is before the token, and the token itself with its bonus."""
    top = maximum(m, u + k)
    past, own = np.exp(m - top), np.exp(u + k - top)
    return (past * N + own * v) / (past * D + own)


def parallel(N, D, m, k, v, log_decay, u):
    """Equation (16), by sums of weighted values; a token reads those of the token before."""
    between, since_start, tops = stabilised(np.broadcast_to(log_decay[..., None, :], k.shape), k, m)
    sums = since_start * N[..., None, :] + (between * v[..., None, :, :]).sum(axis=-2)
    totals = since_start * D[..., None, :] + between.sum(axis=-2)
    o = mean(earlier(N, sums), earlier(D, totals), earlier(m, tops), k, v, u[..., None, :])
    return (sums[..., -1, :], totals[..., -1, :], tops[..., -1, :]), o


def earlier(start, sequence):
    """The sequence one token later, behind its start."""
    return np.concatenate([start[..., None, :], sequence[..., :-1, :]], axis=-2)


VARIANT = Variant(
    name="rwkv4",
    title="RWKV-4",
    summary="in each channel a mean of all values so far, with decaying weights exp(k)",
    step=step,
    parallel=parallel,
    inputs=(
        Input("k", "T V", "key: the log weight of the value in each channel", heads="k", kind="log"),
        VALUE,
        replace(LOG_DECAY, axes="V", doc="natural logarithm of the decay of each channel", role="parameter"),
        Input("u", "V", "bonus of the token itself in each channel", heads="v", kind="log", role="parameter"),
    ),
    state=(
        State("N", "V", "the decayed sum of weighted values, relative to exp(m)", relative_to="m"),
        State("D", "V", "the decayed sum of weights, relative to exp(m)", relative_to="m", typical="positive"),
        State("m", "V", "stabiliser: the running maximum of the log weights", initial=-np.inf, kind="log"),
    ),
    read="exclusive",
    exact="output, state and stabiliser",
    linear=("v", "N"),
    constraints=(
        "C1  log_decay <= 0; the output lies in the convex hull of the values seen, from the empty state.",
        "C2  T = 1 from the empty state returns v.",
        "C3  From the empty state a constant added to all k changes no output.",
        "C4  log_decay = 0 and u = 0 is the running softmax over time, LightNet with queries 1.",
        "C5  log_decay = -inf in a channel leaves the last token and the token itself.",
        "C6  A factor on N and D and its logarithm taken from m changes nothing.",
    ),
    sources=(
        Source(
            "RWKV: Reinventing RNNs for the Transformer Era",
            "Peng et al.",
            2023,
            "2305.13048",
            "equation (16), appendix D, equations (19)-(28)",
        ),
    ),
    aliases={
        "fla": "fused_recurrent_rwkv4",
        "rwkv": "wkv (w = -exp(time_decay), u = time_first)",
        "transformers": "rwkv_linear_attention_cpu",
    },
    used_by={"RWKV-4": "transformers rwkv"},
)
