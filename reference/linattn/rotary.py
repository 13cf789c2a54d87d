r"""Rotary positions: pairs of channels turn by an angle that grows with the position, so that q_m.k_n knows n - m.

.. math::

    x'_a + i x'_b = \zeta\, e^{i \theta} (x_a + i x_b)

Two pairings are in use: ``interleaved`` turns the channels (2i, 2i+1) (RoFormer, arXiv:2104.09864, (15); torchscale),
``half`` the channels (i, i + R/2) (transformers, fla by default). One is the other after a permutation of the channels
of q and k: weights must be permuted, not only the code. Channels beyond the R = 2 (number of angles) rotated ones pass
unchanged. xPos scales q by zeta^m and k by zeta^-n, so that scores fall with the distance; RetNet (arXiv:2307.08621,
(3) and (4)) rotates and leaves the fall to its decay. Angles are inputs: their rounding at large positions is no part
of the rotation.
"""

from typing import Any

import numpy as np

from linattn.algebra import turn

Array = Any
PAIRINGS = ("interleaved", "half")


def rotate(x: Array, angles: Array, pairing: str = "interleaved") -> Array:
    """Turn pair i of x (..., T, K) by angles (..., T, R/2); leading axes broadcast. A negative angle turns back."""
    pairs = angles.shape[-1]
    if 2 * pairs > x.shape[-1]:
        raise ValueError(f"angles must be at most {x.shape[-1] // 2} pairs of channels; got {pairs}")
    a, b = split(x[..., : 2 * pairs], pairing)
    turned = joined(*turn(a, b, angles), pairing)
    rest = x[..., 2 * pairs :]
    return np.concatenate([turned, np.broadcast_to(rest, turned.shape[:-1] + rest.shape[-1:])], axis=-1)


def split(x: Array, pairing: str) -> tuple[Array, Array]:
    """The first and the second channel of every pair."""
    if pairing not in PAIRINGS:
        raise ValueError(f"pairing must be one of {', '.join(PAIRINGS)}; got {pairing!r}")
    if pairing == "interleaved":
        return x[..., 0::2], x[..., 1::2]
    return x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]


def joined(a: Array, b: Array, pairing: str) -> Array:
    if pairing == "half":
        return np.concatenate([a, b], axis=-1)
    return np.stack([a, b], axis=-1).reshape(*a.shape[:-1], 2 * a.shape[-1])


def rope_frequencies(width: int, base: float = 10000.0) -> np.ndarray:
    """base^(-2i / R) for the pairs i of R = ``width`` channels: (R/2,). RoFormer, sections 3.2.2 and 3.3."""
    return base ** (-np.arange(0, width, 2) / width)


def retnet_frequencies(width: int, base: float = 10000.0) -> np.ndarray:
    """base^(-i / (R/2 - 1)): from 1 down to 1 / base itself, as in torchscale's RetNet: (R/2,).

    The paper of RetNet does not give its angles.
    """
    return base ** -np.linspace(0, 1, width // 2)


def cosformer_angle(M: float) -> np.ndarray:
    """pi / (2 M), the angle between neighbours in cosFormer (arXiv:2202.08791, section 2.4): (1,)."""
    return np.array([np.pi / (2 * M)])


def angles(positions: Array, frequencies: Array) -> Array:
    """position times frequency: (T,), (R/2,) -> (T, R/2)."""
    return positions[..., :, None] * frequencies


def xpos_scales(positions: Array, width: int, scale_base: float = 512.0) -> np.ndarray:
    """zeta_i^(n / scale_base) with zeta_i = (2i + 0.4 R) / (1.4 R): (T,) -> (T, R/2). As in torchscale.

    Sun et al. 2022, arXiv:2212.10554 (version 1), (9), (10), algorithm 1, have zeta_i^n, which is ``scale_base`` = 1,
    and a gamma for the 0.4, whose value they do not give. torchscale counts positions from the middle of the sequence;
    what is added to all positions cancels in q.k.
    """
    zeta = (np.arange(0, width, 2) + 0.4 * width) / (1.4 * width)
    return zeta ** (positions[..., :, None] / scale_base)


def xpos(x: Array, angles: Array, scales: Array, pairing: str = "interleaved") -> Array:
    """Turn and scale: q with ``scales``, k with 1 / ``scales``. All channels are rotated."""
    a, b = split(rotate(x, angles, pairing), pairing)
    return joined(scales * a, scales * b, pairing)
