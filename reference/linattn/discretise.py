r"""From h' = A h + B x with a step dt to h_t = decay h_{t-1} + weight B x_t, for diagonal A.

.. math::

    \text{zero-order hold} &: e^{\Delta A}, \; \Delta\, \varphi(\Delta A), \quad \varphi(z) = \frac{e^z - 1}{z} \\
    \text{Euler for B} &: e^{\Delta A}, \; \Delta \qquad
    \text{Euler} : 1 + \Delta A, \; \Delta \\
    \text{bilinear} &: \frac{1 + \Delta A / 2}{1 - \Delta A / 2}, \; \frac{\Delta}{1 - \Delta A / 2} \\
    \text{trapezoid} &: e^{\Delta A}, \; (1 - \lambda) \Delta e^{\Delta A} \text{ for } x_{t-1}, \;
    \lambda \Delta \text{ for } x_t

======================  ============================================================================================
zero_order_hold         Mamba's paper (arXiv:2312.00752, (4)); S5 (arXiv:2208.04933, (6)); the code of S4D and S5
euler_for_input         the code of Mamba and Mamba-2; named exponential-Euler in (4) of Mamba-3 (arXiv:2603.15569)
bilinear                S4; S4D's paper (arXiv:2206.11893, section 3.1, listing 1); the code of S5, by choice
trapezoid               Mamba-3, proposition 1, (5), and its code
======================  ============================================================================================

S4D's paper has zero-order hold and bilinear, and bilinear is its base version. Table 1 of Mamba-3 has all five: what it
calls trapezoidal is ``bilinear``, and ``trapezoid`` its exponential-trapezoidal.

Every function returns (decay, weight). A is real, or complex as NumPy's complex numbers; Re A < 0 makes |decay| < 1
for all but ``euler``, which also needs |1 + dt A| < 1. The bilinear decay is negative where dt A < -2: no log decay.
"""

from typing import Any

import numpy as np

Array = Any


def phi(z: Array) -> Array:
    """(exp(z) - 1) / z, and 1 at 0, where its slope is 1/2."""
    at_zero = z * z == 0
    return np.where(at_zero, 1 + z / 2, np.expm1(z) / np.where(at_zero, 1, z))


def zero_order_hold(A: Array, dt: Array) -> tuple[Array, Array]:
    """x is constant over the step. A = 0 is the limit, weight = dt."""
    return np.exp(dt * A), dt * phi(dt * A)


def euler_for_input(A: Array, dt: Array) -> tuple[Array, Array]:
    """The exact decay, and the weight to first order: phi = 1."""
    return np.exp(dt * A), dt


def euler(A: Array, dt: Array) -> tuple[Array, Array]:
    return 1 + dt * A, dt


def bilinear(A: Array, dt: Array) -> tuple[Array, Array]:
    """Tustin's rule: the mean of the slopes at both ends."""
    half = dt * A / 2
    return (1 + half) / (1 - half), dt / (1 - half)


def trapezoid(A: Array, dt: Array, share: Array) -> tuple[Array, Array, Array]:
    """(decay, weight of the token before, weight of the token); share = 1 is ``euler_for_input``."""
    decay = np.exp(dt * A)
    return decay, (1 - share) * dt * decay, share * dt
