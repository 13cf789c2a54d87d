r"""LRU, the linear recurrent unit: a complex linear recurrence with fixed decays, written and read by matrices.

.. math::

    h_t &= \lambda \odot h_{t-1} + \gamma \odot (B x_t), \qquad \lambda = e^{g + i\theta} \in \mathbb{C}^N \\
    o_t &= \mathrm{Re}(C h_t) + D \odot x_t

B and C are complex; complex numbers are pairs of real arrays. The paper's parameters make g = -exp(nu_log) and
theta = exp(theta_log); gamma = sqrt(1 - |lambda|^2) at first (``gates.input_normaliser``) and then learns by itself.
The output is the real part, where S4D and S5 take it twice.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import times, transpose, turn
from linattn.record import Input, Source, State, Variant
from linattn.variants import linear_recurrence


def step(h_real, h_imag, x, log_decay, angle, gamma, B_real, B_imag, C_real, C_imag, D):
    """Orvieto et al., equation (7), and the output of section 3.2.1."""
    h_real, h_imag = (np.exp(log_decay) * part for part in turn(h_real, h_imag, angle))  # DECAY
    h_real, h_imag = h_real + gamma * times(B_real, x), h_imag + gamma * times(B_imag, x)  # WRITE
    return (h_real, h_imag), times(C_real, h_real) - times(C_imag, h_imag) + D * x  # READ


def parallel(h_real, h_imag, x, log_decay, angle, gamma, B_real, B_imag, C_real, C_imag, D):
    """Appendix A: the scan."""
    u_real, u_imag = (gamma[..., None, :] * (x @ transpose(B)) for B in (B_real, B_imag))
    log_decay, angle = (np.repeat(part[..., None, :], x.shape[-2], axis=-2) for part in (log_decay, angle))
    real, imag = linear_recurrence.complex_states(h_real, h_imag, u_real, u_imag, log_decay, angle)
    o = real @ transpose(C_real) - imag @ transpose(C_imag) + D[..., None, :] * x
    return (real[..., -1, :], imag[..., -1, :]), o


LOG_DECAY = replace(
    linear_recurrence.DECAY, axes="N", doc="natural logarithm of the size of each eigenvalue", role="parameter"
)
ANGLE = Input("angle", "N", "angle of each eigenvalue", heads="v", kind="angle", neutral=0, role="parameter")
B = Input("B_real", "N D", "input matrix, real part", heads="v", role="parameter")
C = Input("C_real", "D N", "output matrix, real part", heads="v", role="parameter")
SKIP = Input("D", "D", "weight of the input itself in the output", heads="v", neutral=0, role="parameter")
MATRICES = (
    B,
    replace(B, name="B_imag", doc="input matrix, imaginary part"),
    C,
    replace(C, name="C_imag", doc="output matrix, imaginary part"),
)
STATE = (State("h_real", "N", "hidden state, real part"), State("h_imag", "N", "hidden state, imaginary part"))

VARIANT = Variant(
    name="lru",
    title="LRU",
    summary="a complex linear recurrence with fixed decays between two matrices; the real part is read",
    step=step,
    parallel=parallel,
    inputs=(
        linear_recurrence.INPUT,
        LOG_DECAY,
        ANGLE,
        Input("gamma", "N", "factor on what is written", heads="v", neutral=1, role="parameter", typical="positive"),
        *MATRICES,
        SKIP,
    ),
    state=STATE,
    mixing=True,
    output="T D",
    linear=("x", "h_real", "h_imag"),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  With angle, B_imag, C_imag and D = 0 it is the linear recurrence between B_real and C_real.",
        "C3  It is S5 with input matrix gamma B and output matrix C / 2.",
        "C4  log_decay = -inf leaves o_t = Re(C gamma B x_t) + D x_t.",
    ),
    sources=(
        Source(
            "Resurrecting Recurrent Neural Networks for Long Sequences",
            "Orvieto et al.",
            2023,
            "2303.06349",
            "equation (7), section 3.2.1 for the output, 3.3 for the eigenvalues",
        ),
    ),
    aliases={"minimal-LRU": "LRU"},
)
