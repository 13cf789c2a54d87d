r"""S4D: every channel has complex states of its own, from a continuous system; the real part is read twice.

.. math::

    h_t &= \lambda \odot h_{t-1} + B \odot (x_t 1^\top), \qquad \lambda = e^{g + i\theta} \in \mathbb{C}^{D \times N} \\
    o_t &= 2\, \mathrm{Re}\Big( \sum_n C_{\cdot n} h_{t, \cdot n} \Big) + D \odot x_t

It is a convolution, which is how it is trained; this is its recurrence. ``discretise.zero_order_hold`` (the code of
the authors) or ``discretise.bilinear`` (listing 1) makes lambda, and what B is multiplied with, of the continuous
system and the step size of each channel; ``s5.polar`` makes g and theta of lambda. The paper's formulas lack D, and
its B is 1 at first; in their minimal code it stays 1, so that the factor is B.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, turn
from linattn.record import Input, Source, Variant
from linattn.variants import linear_recurrence, lru


def step(h_real, h_imag, x, log_decay, angle, B_real, B_imag, C_real, C_imag, D):
    """Gu, Gupta, Goel, Re: the recurrence of the kernel (7), twice its real part; D is from their code."""
    h_real, h_imag = (np.exp(log_decay) * part for part in turn(h_real, h_imag, angle))  # DECAY
    h_real, h_imag = h_real + B_real * x[..., :, None], h_imag + B_imag * x[..., :, None]  # WRITE
    return (h_real, h_imag), 2 * (dot(C_real, h_real) - dot(C_imag, h_imag))[..., 0] + D * x  # READ


def parallel(h_real, h_imag, x, log_decay, angle, B_real, B_imag, C_real, C_imag, D):
    """The scan, with the states of all channels side by side."""

    def flat(part):
        return part.reshape(*part.shape[:-2], -1)

    def at_every_token(part):
        return np.repeat(flat(part)[..., None, :], x.shape[-2], axis=-2)

    u_real, u_imag = (flat(B[..., None, :, :] * x[..., :, :, None]) for B in (B_real, B_imag))
    real, imag = linear_recurrence.complex_states(
        flat(h_real), flat(h_imag), u_real, u_imag, at_every_token(log_decay), at_every_token(angle)
    )
    real, imag = (part.reshape(*part.shape[:-1], *h_real.shape[-2:]) for part in (real, imag))
    o = 2 * (dot(C_real[..., None, :, :], real) - dot(C_imag[..., None, :, :], imag))[..., 0]
    return (real[..., -1, :, :], imag[..., -1, :, :]), o + D[..., None, :] * x


WEIGHT = Input("B_real", "D N", "weight of the input in each state, real part", heads="v", role="parameter")

VARIANT = Variant(
    name="s4d",
    title="S4D",
    summary="complex linear recurrences with fixed decays, some for every channel; twice the real part is read",
    step=step,
    parallel=parallel,
    inputs=(
        linear_recurrence.INPUT,
        replace(lru.LOG_DECAY, axes="D N"),
        replace(lru.ANGLE, axes="D N"),
        WEIGHT,
        replace(WEIGHT, name="B_imag", doc="weight of the input in each state, imaginary part"),
        replace(WEIGHT, name="C_real", doc="weight of each state in the output, real part"),
        replace(WEIGHT, name="C_imag", doc="weight of each state in the output, imaginary part"),
        lru.SKIP,
    ),
    state=tuple(replace(part, axes="D N") for part in lru.STATE),
    output="T D",
    linear=("x", "h_real", "h_imag"),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  Channels do not mix.",
        "C3  It is a convolution: 2 Re(sum over n of C lambda^l B) weighs the input l tokens ago.",
        "C4  It is S5 with the states of all channels side by side.",
    ),
    sources=(
        Source(
            "On the Parameterization and Initialization of Diagonal State Space Models",
            "Gu, Gupta, Goel, Re",
            2022,
            "2206.11893",
            "equations (6), (7), sections 3.1-3.3, listing 1; D as in the code of the authors, models/s4/s4d.py",
        ),
    ),
    aliases={"s4": "S4D (S4DKernel)"},
)
