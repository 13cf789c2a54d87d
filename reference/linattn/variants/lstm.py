r"""LSTM, the ancestor of all gates: a cell that decays and is written, as gates say that see the last output.

.. math::

    f_t &= \mathrm{sigmoid}(x^f_t + R_f h_{t-1}), \qquad i_t = \mathrm{sigmoid}(x^i_t + R_i h_{t-1}),
           \qquad y_t = \mathrm{sigmoid}(x^o_t + R_o h_{t-1}) \\
    c_t &= f_t \odot c_{t-1} + i_t \odot \tanh(x^g_t + R_g h_{t-1}) \\
    o_t &= h_t = y_t \odot \tanh(c_t)

The x are what the input contributes to the three gates and to the candidate, W x + b. There are no peepholes. With
R = 0 the cell is a linear recurrence; the gates that see h are why there is no closed form. The first LSTM, of 1997,
has no forget gate, f = 1, sees gates of the step before as well, and has 2 tanh(x / 2) and tanh(c / 2) in place of
tanh. The one of 1999, with a forget gate, keeps these two; all cells of a block share their gates.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import sigmoid, times
from linattn.record import Source, State, Variant
from linattn.variants import linear_recurrence
from linattn.variants.rnn import PRE_ACTIVATION, RECURRENT


def step(h, c, x_i, x_f, x_g, x_o, R_i, R_f, R_g, R_o):
    """Beck et al., equations (2)-(7), with tanh; the equations of ``torch.nn.LSTM``."""
    i, f, o = (sigmoid(x + times(R, h)) for x, R in ((x_i, R_i), (x_f, R_f), (x_o, R_o)))
    g = np.tanh(x_g + times(R_g, h))
    c = f * c  # DECAY
    c = c + i * g  # WRITE
    h = o * np.tanh(c)  # READ
    return (h, c), h


PLACES = {"i": "the input gate", "f": "the forget gate", "g": "the candidate", "o": "the output gate"}

VARIANT = Variant(
    name="lstm",
    title="LSTM",
    summary="a gated cell whose gates see the last output",
    step=step,
    parallel=None,
    inputs=(
        *(replace(PRE_ACTIVATION, name=f"x_{n}", doc=f"what the input contributes to {PLACES[n]}") for n in PLACES),
        *(replace(RECURRENT, name=f"R_{n}", doc=f"matrix from the last output to {PLACES[n]}") for n in PLACES),
    ),
    state=(replace(linear_recurrence.HIDDEN, doc="last output"), State("c", "D", "cell")),
    mixing=True,
    exact="nothing: there is one form",
    output="T D",
    exempt=("neutral",),
    linear=(),
    constraints=(
        "C1  Every output lies between -1 and 1.",
        "C2  R = 0 in all places makes the cell a linear recurrence with decays f and inputs i g.",
    ),
    sources=(
        Source(
            "xLSTM: Extended Long Short-Term Memory",
            "Beck et al.",
            2024,
            "2405.04517",
            "section 2.1, equations (2)-(7): the review of the LSTM",
        ),
        Source(
            "Long Short-Term Memory",
            "Hochreiter, Schmidhuber",
            1997,
            "",
            "section 4 and appendix A.1, equations (7)-(9), with f = 1; (3)-(5): its sigmoids",
        ),
        Source(
            "Learning to Forget: Continual Prediction with LSTM",
            "Gers, Schmidhuber, Cummins",
            1999,
            "",
            "technical report IDSIA-01-99, sections 2, 3.1, equations (1)-(8), (10), (11): the forget gate",
        ),
    ),
    aliases={"onnx": "LSTM (gates in the order i, o, f, c)", "torch": "LSTM (gates in the order i, f, g, o)"},
)
