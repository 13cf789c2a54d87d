r"""mLSTM (xLSTM) with its exponential input gate: gated linear attention over a bounded normaliser, stabilised.

.. math::

    m_t &= \max(g_t + m_{t-1},\, i_t), \qquad a_t = e^{g_t + m_{t-1} - m_t}, \quad b_t = e^{i_t - m_t} \\
    S_t &= a_t S_{t-1} + b_t k_t v_t^\top \\
    z_t &= a_t z_{t-1} + b_t k_t \\
    o_t &= \frac{\sigma\, S_t^\top q_t}{\max(|\sigma\, z_t^\top q_t|,\, e^{-m_t})}

State and normaliser are relative to e^m, which cancels: the denominator is max(|.|, 1) of what they stand for. g is
the logarithm of the forget gate, a sigmoid here as in the authors' code (the paper has an exponential as well), i that
of the input gate; the output gate is outside. The paper and the first code scale the keys, so that their state has the
factor sigma, the paper of the kernels the query, as here. Both codes start with m = 0 in place of -inf, which changes
nothing, and add eps = 1e-6 to the stabilised denominator, which does. The backward passes that the kernels write out
take the denominator for a constant, since a norm follows that undoes it.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, maximum, outer, read
from linattn.families import finite, stabilised, weighted, with_ones
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, State, Variant


def step(S, z, m, q, k, v, log_decay, log_input, scale):
    """Beck et al., equations (19)-(21), stabilised by (15)-(17)."""
    before, m = log_decay + m, maximum(log_decay + m, log_input)
    keep, write = np.exp(before - finite(m)), np.exp(log_input - finite(m))
    S = keep[..., :, None] * S + outer(write * k, v)  # DECAY, WRITE
    z = keep * z + write * k
    return (S, z, m), bounded(scale * read(q, S), scale * dot(q, z), m)  # READ


def bounded(weighted_sum, total, m):
    """weighted_sum / max(|total|, 1) of numbers relative to exp(m). The 1 is a weight more: m counts from 0 up."""
    top = maximum(m, np.zeros_like(m))
    kept = np.exp(m - top)
    return kept * weighted_sum / maximum(kept * maximum(total, -total), np.exp(-top))


def parallel(S, z, m, q, k, v, log_decay, log_input, scale):
    """Equations (71)-(77), with a state."""
    between, since_start, tops = stabilised(log_decay, log_input, m)
    start = np.concatenate([S, z[..., :, None]], axis=-1)
    final, o = weighted(start, scale * q, with_ones(v), between * k[..., None, :, :], since_start)
    return (final[..., :-1], final[..., -1], tops[..., -1, :]), bounded(o[..., :-1], o[..., -1:], tops)


LOG_INPUT = replace(
    LOG_DECAY, name="log_input", doc="natural logarithm of the input gate", domain=(-np.inf, np.inf), typical="bell"
)
NORMALISER = State("z", "K", "normaliser: the decayed sum of the keys")
VARIANT = Variant(
    name="mlstm",
    title="mLSTM",
    summary="gated linear attention with an exponential input gate, over the size of its normaliser or 1",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, LOG_DECAY, LOG_INPUT, SCALE),
    state=(
        replace(MEMORY, doc="associative memory, relative to exp(m): keys are rows, values columns", relative_to="m"),
        replace(NORMALISER, doc="normaliser, relative to exp(m): the gated sum of the keys", relative_to="m"),
        State("m", "1", "stabiliser: the running maximum of the log weights", initial=-np.inf, kind="log"),
    ),
    exact="output, state and stabiliser, with max as any symmetric function of two numbers",
    exempt=("scale",),
    constraints=(
        "C1  log_decay <= 0; log_input may be any number, and -inf, which writes nothing.",
        "C2  From the empty state the outputs do not depend on m.",
        "C3  Without the denominator it is simple GLA on values exp(log_input) v.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
        "C5  The sign of z.q does not count.",
        "C6  A constant added to all log_input changes the output: the 1 of the denominator does not scale.",
    ),
    sources=(
        Source(
            "xLSTM: Extended Long Short-Term Memory",
            "Beck et al.",
            2024,
            "2405.04517",
            "equations (15)-(17), (19)-(27), appendix A.3, equations (71)-(77)",
        ),
        Source(
            "Tiled Flash Linear Attention: More Efficient Linear RNN and xLSTM Kernels",
            "Beck, Poppel, Lippe, Hochreiter",
            2025,
            "2503.14376",
            "equations (1)-(5); appendices B.1, (19)-(27), B.3",
        ),
    ),
    aliases={
        "mlstm_kernels": "mlstm_chunkwise__native_autograd(eps=0), log_decay = logsigmoid(f), log_input = i",
        "transformers": "xLSTM: mlstm_recurrent_step_native",
    },
    used_by={"xLSTM 7B": "transformers xlstm"},
)
