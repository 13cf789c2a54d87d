r"""Linear recurrence: every channel decays by itself and adds its input. There are no keys and no queries.

.. math::

    h_t &= \alpha_t \odot h_{t-1} + x_t, \qquad \alpha_t = e^{g_t} \in [0, 1]^D \\
    o_t &= h_t

The scan of which the elementwise recurrent networks are made: they differ in how x and the decays come about. It is
linear attention with one key channel, k = q = 1, and a decay per value channel. ``complex_states`` is the same with
complex numbers.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import scan, turn
from linattn.inputs import LOG_DECAY
from linattn.record import Input, Source, State, Variant


def step(h, x, log_decay):
    """The operator that fla names after HGRN, ``naive_recurrent_hgrn``."""
    h = np.exp(log_decay) * h  # DECAY
    h = h + x  # WRITE
    return (h,), h  # READ


def parallel(h, x, log_decay):
    """The associative scan."""
    states = scanned(h, np.exp(log_decay), x)
    return (states[..., -1, :],), states


def scanned(h, decay, x):
    """All states h_t = decay_t h_{t-1} + x_t: (..., D), (..., T, D), (..., T, D) -> (..., T, D)."""
    decayed, written = scan(decay, x, axis=-2)
    return decayed * h[..., None, :] + written


def complex_states(h_real, h_imag, x_real, x_imag, log_decay, angle):
    """All states h_t = exp(log_decay_t + i angle_t) h_{t-1} + x_t as pairs of real arrays.

    Seen from a frame that turns with the angles, the recurrence is real.
    """
    phase = np.cumsum(angle, axis=-2)
    decay = np.exp(log_decay)
    x_real, x_imag = turn(x_real, x_imag, -phase)
    return turn(scanned(h_real, decay, x_real), scanned(h_imag, decay, x_imag), phase)


INPUT = Input("x", "T D", "input", heads="v")
DECAY = replace(LOG_DECAY, axes="T D", doc="natural logarithm of the decay of each channel")
HIDDEN = State("h", "D", "hidden state")

VARIANT = Variant(
    name="linear_recurrence",
    title="Linear recurrence",
    summary="a scan: every channel decays by itself and adds its input",
    step=step,
    parallel=parallel,
    inputs=(INPUT, DECAY),
    state=(HIDDEN,),
    output="T D",
    linear=("x", "h"),
    constraints=(
        "C1  log_decay <= 0; log_decay = 0 throughout is the running sum.",
        "C2  log_decay_t = -inf forgets everything before token t, exactly.",
        "C3  Channels do not mix.",
        "C4  It is the full Hadamard gate with one key channel, k = q = 1, scale 1.",
    ),
    sources=(
        Source(
            "Hierarchically Gated Recurrent Neural Network for Sequence Modeling",
            "Qin, Yang, Zhong",
            2023,
            "2311.04823",
            "equation (1), with any input (version 1); the recurrence as in fla, ops/hgrn/naive.py",
        ),
    ),
    aliases={
        "fla": "hgrn (the operator)",
        "recurrentgemma": "rnn_scan",
        "transformers": "RecurrentGemmaRglru._rnn_scan",
    },
    used_by={"RecurrentGemma": "transformers recurrent_gemma"},
)
