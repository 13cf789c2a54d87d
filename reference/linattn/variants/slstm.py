r"""sLSTM (xLSTM): an LSTM with an exponential input gate, a normaliser and a stabiliser. Its gates see its output.

.. math::

    \tilde x_t &= x_t + R_x h_{t-1}, \qquad x = z, i, f, o \\
    m_t &= \max(g_t + m_{t-1},\, \tilde i_t), \qquad g_t = \log \mathrm{sigmoid}(\tilde f_t) \\
    c_t &= e^{g_t + m_{t-1} - m_t} c_{t-1} + e^{\tilde i_t - m_t} \tanh(\tilde z_t) \\
    n_t &= e^{g_t + m_{t-1} - m_t} n_{t-1} + e^{\tilde i_t - m_t} \\
    h_t &= \mathrm{sigmoid}(\tilde o_t) \odot c_t / n_t

z, i, f and o come before their functions, with their biases; the matrices R are those of one head. Since the gates
need the last output there is no closed form: it is recurrent alone. The paper allows an exponential forget gate as
well, g = f; the authors' code has the sigmoid. c and n are relative to e^m; the code starts with m = i where n is 0,
which is m = -inf here.
"""

from dataclasses import replace

import numpy as np

from linattn.activations import logsigmoid
from linattn.algebra import maximum, read, sigmoid
from linattn.inputs import VALUE
from linattn.record import Input, Source, State, Variant


def step(c, n, m, h, z, i, f, o, R_z, R_i, R_f, R_o):
    """Beck et al., equations (34)-(40), stabilised by (15)-(17)."""
    z, i, f, o = z + read(h, R_z), i + read(h, R_i), f + read(h, R_f), o + read(h, R_o)
    before = m + logsigmoid(f)
    m = maximum(before, i)
    keep, write = np.exp(before - m), np.exp(i - m)
    c = keep * c + write * np.tanh(z)  # DECAY, WRITE
    n = keep * n + write
    h = sigmoid(o) * c / n  # READ
    return (c, n, m, h), h


def recurrent_weights(gate):
    return Input(
        f"R_{gate}", "V V", f"what {gate} sees of the last output: rows are its channels", heads="v", typical="unit"
    )


STATE = State("c", "V", "memory, relative to exp(m)", relative_to="m")
VARIANT = Variant(
    name="slstm",
    title="sLSTM",
    summary="an LSTM with an exponential input gate and a normaliser, recurrent alone",
    step=step,
    parallel=None,
    inputs=(
        replace(VALUE, name="z", doc="input, before tanh"),
        replace(VALUE, name="i", doc="logarithm of the input gate", role="gate"),
        replace(VALUE, name="f", doc="forget gate, before its sigmoid", role="gate"),
        replace(VALUE, name="o", doc="output gate, before its sigmoid", role="gate"),
        *(replace(recurrent_weights(gate), role="parameter") for gate in "zifo"),
    ),
    state=(
        STATE,
        replace(STATE, name="n", doc="normaliser, relative to exp(m)", typical="positive"),
        State("m", "V", "stabiliser: the running maximum of the log weights", initial=-np.inf),
        State("h", "V", "the last output"),
    ),
    mixing=True,
    exact="nothing: there is one form",
    exempt=("neutral",),
    linear=(),
    constraints=(
        "C1  T = 1 from the empty state returns sigmoid(o) tanh(z).",
        "C2  From the empty state |output| < 1 in each channel.",
        "C3  From the empty state with R_i = 0 a constant added to all i changes no output.",
        "C4  With R = 0 the quotient c / n is RWKV-4's state N / D with keys i and decays sigmoid(f), one per token.",
    ),
    sources=(
        Source(
            "xLSTM: Extended Long Short-Term Memory",
            "Beck et al.",
            2024,
            "2405.04517",
            "equations (8)-(17), appendix A.2, equations (34)-(40)",
        ),
    ),
    aliases={"xlstm": "sLSTMCell (vanilla)"},
)
