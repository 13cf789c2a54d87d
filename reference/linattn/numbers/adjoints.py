"""The derivative of every operation of which variants are made, for ``tape``.

A rule computes on values and returns the result, and for each operand the way back: a function from the cotangent of
the result to that of the operand. It uses the same few operations, so that it runs on any number system.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from linattn import algebra
from linattn.numbers.moves import (
    Back,
    Rule,
    broadcast_to,
    concatenate,
    cumsum,
    own_inverse,
    repeat,
    stack,
    unbroadcast,
)


def elementwise(ufunc: Any, *ways: Callable[..., Any]) -> Rule:
    """``ways[i](g, result, *operands)`` is the cotangent of operand i before broadcasting is undone."""

    def rule(*x: Any) -> tuple[Any, list[Back]]:
        y = ufunc(*x)
        return y, [partial(back, i, y, x) for i in range(len(x))]

    def back(i: int, y: Any, x: tuple, g: Any) -> Any:
        return unbroadcast(ways[i](g, y, *x), np.shape(x[i]))

    return rule


def matmul(x: Any, y: Any) -> tuple[Any, list[Back]]:
    return x @ y, [
        lambda g: unbroadcast(g @ algebra.transpose(y), x.shape),
        lambda g: unbroadcast(algebra.transpose(x) @ g, y.shape),
    ]


def maximum(x: Any, y: Any) -> tuple[Any, list[Back]]:
    """Of equal numbers the first. Overlapping balls raise ``Undecided``."""
    first = at_least(x, y)
    return algebra.maximum(np.asarray(x), np.asarray(y)), [
        lambda g: unbroadcast(np.where(first, g, 0), np.shape(x)),
        lambda g: unbroadcast(np.where(first, 0, g), np.shape(y)),
    ]


_at_least = np.frompyfunc(lambda x, y: x.maximum(y) == x if hasattr(x, "unordered") else x >= y, 2, 1)


def at_least(x: Any, y: Any) -> Any:
    """Numbers and exponents of the finite field have no order but that of their ``maximum``."""
    objects = object in (np.asarray(x).dtype, np.asarray(y).dtype)
    return np.asarray(_at_least(x, y) if objects else x >= y, dtype=bool)


def largest(x: Any, axis: int, keepdims: bool) -> tuple[Any, list[Back]]:
    """Along the last axis, which stays; of equal numbers the first."""
    assert (axis, keepdims) == (-1, True)
    place, top = np.zeros(x.shape[:-1] + (1,), dtype=int), x[..., :1]
    for i in range(1, x.shape[-1]):
        stays = at_least(top, x[..., i : i + 1])
        place, top = np.where(stays, place, i), np.where(stays, top, x[..., i : i + 1])
    there = np.arange(x.shape[-1]) == place
    return top, [lambda g: np.where(there, g, 0)]


def summed(x: Any, axis: Any = 0, keepdims: bool = False) -> tuple[Any, list[Back]]:
    def back(g: Any) -> Any:
        wide = g if keepdims or axis is None else np.expand_dims(g, axis)
        return np.broadcast_to(wide, x.shape)

    return x.sum(axis=axis, keepdims=keepdims), [back]


def einsum(*x: Any, subscripts: str) -> tuple[Any, list[Back]]:
    """Exchange the result with the operand."""
    left, right = subscripts.split("->")
    terms = left.split(",")

    def back(i: int) -> Back:
        rest = ",".join([right, *terms[:i], *terms[i + 1 :]])
        return lambda g: unbroadcast(np.einsum(f"{rest}->{terms[i]}", g, *x[:i], *x[i + 1 :]), x[i].shape)

    return np.einsum(subscripts, *x), [back(i) for i in range(len(x))]


def where(condition: Any, x: Any, y: Any) -> tuple[Any, list[Back]]:
    return np.where(condition, x, y), [
        lambda g: g,
        lambda g: unbroadcast(np.where(condition, g, 0), np.shape(x)),
        lambda g: unbroadcast(np.where(condition, 0, g), np.shape(y)),
    ]


UFUNCS: dict[Any, Rule] = {
    ufunc: elementwise(ufunc, *ways)
    for ufunc, *ways in (
        (np.add, lambda g, z, x, y: g, lambda g, z, x, y: g),
        (np.subtract, lambda g, z, x, y: g, lambda g, z, x, y: -g),
        (np.multiply, lambda g, z, x, y: g * y, lambda g, z, x, y: g * x),
        (np.divide, lambda g, z, x, y: g / y, lambda g, z, x, y: -g * z / y),
        (np.negative, lambda g, y, x: -g),
        (np.exp, lambda g, y, x: g * y),
        (np.expm1, lambda g, y, x: g * np.exp(x)),
        (np.log, lambda g, y, x: g / x),
        (np.log1p, lambda g, y, x: g / (1 + x)),
        (np.sqrt, lambda g, y, x: g / (2 * y)),
        (np.sin, lambda g, y, x: g * np.cos(x)),
        (np.cos, lambda g, y, x: -g * np.sin(x)),
        (np.tanh, lambda g, y, x: g * (1 - y * y)),
    )
} | {np.matmul: matmul, **dict.fromkeys(algebra.MAXIMA, maximum)}
COMPARISONS = (np.greater, np.greater_equal, np.less, np.less_equal, np.equal, np.not_equal, np.isfinite)
FUNCTIONS: dict[Any, Callable[..., tuple[Rule, Sequence[Any], dict[str, Any]]]] = {
    np.einsum: lambda subscripts, *x: (einsum, x, {"subscripts": subscripts}),
    np.where: lambda condition, x, y: (where, (condition, x, y), {}),
    np.concatenate: lambda arrays, axis=0: (concatenate, tuple(arrays), {"axis": axis}),
    np.stack: lambda arrays, axis=0: (stack, tuple(arrays), {"axis": axis}),
    np.repeat: lambda x, repeats, axis: (repeat, (x,), {"repeats": repeats, "axis": axis}),
    np.cumsum: lambda x, axis: (cumsum, (x,), {"axis": axis}),
    np.broadcast_to: lambda x, shape: (broadcast_to, (x,), {"shape": shape}),
    np.swapaxes: lambda x, first, second: (own_inverse(np.swapaxes, first, second), (x,), {}),
    np.tril: lambda x, k=0: (own_inverse(np.tril, k), (x,), {}),
    np.triu: lambda x, k=0: (own_inverse(np.triu, k), (x,), {}),
}


def of_function(function: Any, arguments: Any, options: Any) -> tuple[Rule, Sequence[Any], dict[str, Any]]:
    """The rule of a function of NumPy, its operands and its options. Raises ``TypeError`` where there is none."""
    if function not in FUNCTIONS:
        raise TypeError(f"no derivative is known of numpy.{function.__name__}")
    return FUNCTIONS[function](*arguments, **options)


def of_ufunc(ufunc: Any, method: str) -> Rule:
    """The rule of a ufunc or of its reduction. Raises ``TypeError`` where there is none."""
    if method == "reduce" and ufunc is np.add:
        return summed
    if method == "reduce" and ufunc in algebra.MAXIMA:
        return largest
    if method == "__call__" and ufunc in COMPARISONS:
        return lambda *x: (ufunc(*x), None)
    if method == "__call__" and ufunc in UFUNCS:
        return UFUNCS[ufunc]
    raise TypeError(f"no derivative is known of {ufunc.__name__} ({method})")
