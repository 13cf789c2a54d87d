r"""S5: a complex linear recurrence that all channels share, from a continuous system; the real part is read twice.

.. math::

    h_t &= \lambda \odot h_{t-1} + B x_t, \qquad \lambda = e^{g + i\theta} \in \mathbb{C}^N \\
    o_t &= 2\, \mathrm{Re}(C h_t) + D \odot x_t

Half of the eigenvalues of a real system stand for all: the others are their conjugates, hence the 2, which the code
drops where ``conj_sym`` is off, and which listing 1 of the paper does not have. ``linattn.discretise`` makes lambda,
and what B is multiplied with, of the continuous system and its step sizes: by a zero-order hold, (6), or by the
bilinear rule, which the code offers. ``polar`` makes g and theta of lambda.
"""

import numpy as np

from linattn.algebra import times, turn
from linattn.record import Source, Variant
from linattn.variants import linear_recurrence, lru


def step(h_real, h_imag, x, log_decay, angle, B_real, B_imag, C_real, C_imag, D):
    """Smith, Warrington, Linderman, equations (2) and (5), with the 2 of ``apply_ssm`` in their code."""
    h_real, h_imag = (np.exp(log_decay) * part for part in turn(h_real, h_imag, angle))  # DECAY
    h_real, h_imag = h_real + times(B_real, x), h_imag + times(B_imag, x)  # WRITE
    return (h_real, h_imag), 2 * (times(C_real, h_real) - times(C_imag, h_imag)) + D * x  # READ


def parallel(h_real, h_imag, x, log_decay, angle, B_real, B_imag, C_real, C_imag, D):
    """The LRU without its gamma."""
    ones = 1 + 0 * B_real[..., 0]
    return lru.parallel(h_real, h_imag, x, log_decay, angle, ones, B_real, B_imag, 2 * C_real, 2 * C_imag, D)


def polar(eigenvalue):
    """log |lambda| and the angle of complex eigenvalues."""
    return np.log(np.abs(eigenvalue)), np.angle(eigenvalue)


VARIANT = Variant(
    name="s5",
    title="S5",
    summary="a complex linear recurrence with fixed decays between two matrices; twice the real part is read",
    step=step,
    parallel=parallel,
    inputs=(linear_recurrence.INPUT, lru.LOG_DECAY, lru.ANGLE, *lru.MATRICES, lru.SKIP),
    state=lru.STATE,
    mixing=True,
    output="T D",
    linear=("x", "h_real", "h_imag"),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  It is the LRU with gamma = 1 and output matrix 2 C.",
        "C3  It is a convolution: 2 Re(C lambda^l B) weighs the input l tokens ago.",
        "C4  Half of the eigenvalues, read twice, are all eigenvalues of a real system, read once.",
    ),
    sources=(
        Source(
            "Simplified State Space Layers for Sequence Modeling",
            "Smith, Warrington, Linderman",
            2022,
            "2208.04933",
            "equations (2), (5), (6), section 3.2, listing 1; the 2 as in the code of the authors, s5/ssm.py",
        ),
    ),
    aliases={"S5": "S5SSM (apply_ssm)"},
)
