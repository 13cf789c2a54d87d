"""The derivatives of operations that only move numbers about: taking, joining, reshaping, broadcasting, summing up."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

Back = Callable[[Any], Any]
Rule = Callable[..., tuple[Any, list[Back] | None]]


@dataclass(frozen=True, eq=False)
class Piece:
    """The cotangent of a part of an array; it is 0 elsewhere."""

    index: Any
    value: Any


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Summed over the axes that broadcasting added or stretched."""
    if np.ndim(g) > len(shape):
        g = g.sum(axis=tuple(range(np.ndim(g) - len(shape))))
    stretched = tuple(i for i, size in enumerate(shape) if size == 1 and np.shape(g)[i] != 1)
    return g.sum(axis=stretched, keepdims=True) if stretched else g


def taken(x: Any, index: Any) -> tuple[Any, list[Back]]:
    return x[index], [lambda g: Piece(index, g)]


def reshaped(x: Any, shape: Any) -> tuple[Any, list[Back]]:
    return x.reshape(*shape), [lambda g: g.reshape(x.shape)]


def concatenate(*x: Any, axis: int) -> tuple[Any, list[Back]]:
    ends = np.cumsum([part.shape[axis] for part in x])

    def back(i: int) -> Back:
        window = [slice(None)] * x[i].ndim
        window[axis] = slice(ends[i] - x[i].shape[axis], ends[i])
        return lambda g: g[tuple(window)]

    return np.concatenate(x, axis=axis), [back(i) for i in range(len(x))]


def stack(*x: Any, axis: int) -> tuple[Any, list[Back]]:
    def back(i: int, g: Any) -> Any:
        return np.moveaxis(g, axis, 0)[i]

    return np.stack(x, axis=axis), [partial(back, i) for i in range(len(x))]


def repeat(x: Any, repeats: int, axis: int) -> tuple[Any, list[Back]]:
    at = axis % x.ndim
    split = x.shape[: at + 1] + (repeats,) + x.shape[at + 1 :]
    return np.repeat(x, repeats, axis=axis), [lambda g: g.reshape(split).sum(axis=at + 1)]


def cumsum(x: Any, axis: int) -> tuple[Any, list[Back]]:
    return np.cumsum(x, axis=axis), [lambda g: np.flip(np.cumsum(np.flip(g, axis), axis=axis), axis)]


def broadcast_to(x: Any, shape: Any) -> tuple[Any, list[Back]]:
    return np.broadcast_to(x, shape), [lambda g: unbroadcast(g, x.shape)]


def own_inverse(function: Callable[..., Any], *more: Any) -> Rule:
    """Exchanging axes, keeping a triangle: the cotangent goes back through the same function."""
    return lambda x: (function(x, *more), [lambda g: function(g, *more)])
