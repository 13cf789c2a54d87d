r"""minLSTM: an LSTM whose gates and candidate see the input alone, and whose gates are divided by their sum.

.. math::

    h_t &= \frac{f_t}{f_t + i_t} \odot h_{t-1} + \frac{i_t}{f_t + i_t} \odot x_t \\
    o_t &= h_t

x is the candidate state, f and i are the forget and the input gate, after their sigmoids. There is no output gate and
no tanh. Where both gates are 0 the weights are 0 / 0: in that channel the state is NaN from there on. In version 3 of
the paper the appendices divide the gates ("length independence scaling"); its main formulas, as pictures have them, do
not: a linear recurrence with the decay f and inputs i x. In the authors' code it is an option, ``use_coeff_norm``.
"""

from dataclasses import replace

from linattn.record import Input, Source, Variant
from linattn.variants import linear_recurrence


def step(h, x, f, i):
    """Feng et al., algorithm 3."""
    h = f / (f + i) * h  # DECAY
    h = h + i / (f + i) * x  # WRITE
    return (h,), h  # READ


def parallel(h, x, f, i):
    """Algorithm 4. (minGRU with the gate i / (f + i) would keep 1 - i / (f + i): no digit of a small f.)"""
    states = linear_recurrence.scanned(h, f / (f + i), i / (f + i) * x)
    return (states[..., -1, :],), states


FORGET = Input("f", "T D", "forget gate", heads="v", domain=(0, 1), role="gate", typical="strength")

VARIANT = Variant(
    name="min_lstm",
    title="minLSTM",
    summary="a running weighted mean with the weights f and i, divided by their sum",
    step=step,
    parallel=parallel,
    inputs=(
        replace(linear_recurrence.INPUT, doc="candidate state"),
        FORGET,
        replace(FORGET, name="i", doc="input gate"),
    ),
    state=(linear_recurrence.HIDDEN,),
    output="T D",
    exempt=("neutral",),
    linear=("x", "h"),
    constraints=(
        "C1  0 <= f, i <= 1; f = i = 0 is 0 / 0, which stays NaN in that channel, and nowhere else.",
        "C2  i_t = 0 ignores token t, f_t = 0 stores x_t, exactly.",
        "C3  A factor common to both gates of a token and a channel cancels.",
        "C4  Every channel is a weighted mean of its candidates and of its initial value.",
        "C5  f = 1 - z, i = z is minGRU.",
    ),
    sources=(
        Source("Were RNNs All We Needed?", "Feng et al.", 2024, "2410.01201", "appendices A.1, B, in a translation"),
    ),
    aliases={"minGRU-pytorch": "minLSTM (positive candidates)"},
)
