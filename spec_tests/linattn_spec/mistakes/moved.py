"""What is taken from another token, head or batch entry."""

import numpy as np

from linattn_spec.mistakes.record import Array


def shifted(x: Array, by: int) -> Array:
    """Along T: token t gets what token t - by has; the ends repeat nothing, they are 0."""
    zeros = np.zeros_like(x[:, :, : abs(by)])
    return np.concatenate([zeros, x[:, :, :-by]] if by > 0 else [x[:, :, -by:], zeros], axis=2)


def first_of(x: Array, axis: int) -> Array:
    """Everywhere along an axis what its first entry has."""
    return np.broadcast_to(np.take(x, [0], axis=axis), x.shape)
