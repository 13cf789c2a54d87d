"""What is taken from another token, head or batch entry."""

from collections.abc import Callable

import numpy as np

from linattn_spec.mistakes.record import Array, Call


def shifted(x: Array, by: int) -> Array:
    """Along T: token t gets what token t - by has; the ends repeat nothing, they are 0."""
    zeros = np.zeros_like(x[:, :, : abs(by)])
    return np.concatenate([zeros, x[:, :, :-by]] if by > 0 else [x[:, :, -by:], zeros], axis=2)


def first_of(x: Array, axis: int) -> Array:
    """Everywhere along an axis what its first entry has."""
    return np.broadcast_to(np.take(x, [0], axis=axis), x.shape)


def next_of(x: Array, axis: int) -> Array:
    """Along an axis, what the next entry has; the last one has that of the first."""
    return np.roll(x, -1, axis=axis)


def along(move: Callable[[Array, int], Array], axis: int) -> Callable[[Array, Call], Array]:
    """The same along one axis, as a change of an input, of the state or of a result."""
    return lambda x, call: move(x, axis)
