r"""HGRN: a linear recurrence whose input gate is what its forget gate leaves free.

.. math::

    h_t &= \alpha_t \odot h_{t-1} + (1 - \alpha_t) \odot x_t, \qquad \alpha_t = e^{g_t} \in [0, 1]^D \\
    o_t &= h_t

The paper's names: lambda = alpha for the forget gate, c = x for the input. Its lower bounds of the forget gate come
before the operator, the output gate and the norm after it. The authors' first layer is complex: its decays turn by a
fixed angle, ``complex_step``, and it reads real and imaginary parts side by side. Their later kernels are real, as
here; fla's operator takes (1 - alpha) x and is the bare linear recurrence.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import turn
from linattn.record import Source, Variant
from linattn.variants import linear_recurrence


def step(h, x, log_decay):
    """Qin, Yang, Zhong, section 3.2, algorithm 1, with angle 0."""
    alpha = np.exp(log_decay)
    h = alpha * h  # DECAY
    h = h + (1 - alpha) * x  # WRITE
    return (h,), h  # READ


def complex_step(h_real, h_imag, x_real, x_imag, log_decay, angle):
    """The same recurrence with its angle; ``linear_recurrence.complex_states`` has all its states at once."""
    alpha = np.exp(log_decay)
    h_real, h_imag = turn(h_real, h_imag, angle)
    return alpha * h_real + (1 - alpha) * x_real, alpha * h_imag + (1 - alpha) * x_imag


def parallel(h, x, log_decay):
    return linear_recurrence.parallel(h, (1 - np.exp(log_decay)) * x, log_decay)


VARIANT = Variant(
    name="hgrn",
    title="HGRN",
    summary="a linear recurrence with inputs (1 - decay) x",
    step=step,
    parallel=parallel,
    inputs=(replace(linear_recurrence.INPUT, doc="input, after its activation"), linear_recurrence.DECAY),
    state=(linear_recurrence.HIDDEN,),
    output="T D",
    linear=("x", "h"),
    constraints=(
        "C1  log_decay <= 0; log_decay_t = 0 in a channel keeps it as it is.",
        "C2  It is the linear recurrence with inputs (1 - exp(log_decay)) x.",
        "C3  log_decay_t = -inf stores x_t, exactly.",
        "C4  Every channel is a weighted mean of its inputs and of its initial value.",
    ),
    sources=(
        Source(
            "Hierarchically Gated Recurrent Neural Network for Sequence Modeling",
            "Qin, Yang, Zhong",
            2023,
            "2311.04823",
            "equation (2), section 3.2, algorithm 1 (version 1)",
        ),
    ),
    aliases={"fla": "hgrn (layer)", "hgru-pytorch": "Hgru1_real_1d"},
)
