"""The few operations of which every variant is made.

They use nothing but + - * /, exp, comparisons by ``maximum``, and NumPy's contractions, stacking and selection, so
that they run unchanged on float64, on complex numbers, on rigorous balls, on a tape, in a finite field and in
random arithmetic. ``outer``, ``read``, ``products`` and ``@`` are the contraction points: there, and nowhere else,
the noise model rounds operands. Rows are collected and stacked, never assigned: assigning into an array would
silently convert the numbers.
"""

from typing import Any

import numpy as np

Array = Any  # an ndarray over any of the number systems


def outer(k: Array, v: Array) -> Array:
    """k v^T: (..., K), (..., V) -> (..., K, V)."""
    return np.einsum("...k,...v->...kv", k, v)


def read(q: Array, S: Array) -> Array:
    """S^T q: (..., K), (..., K, V) -> (..., V)."""
    return (q[..., None, :] @ S)[..., 0, :]


def times(matrix: Array, x: Array) -> Array:
    """A x: (..., M, D), (..., D) -> (..., M)."""
    return (matrix @ x[..., :, None])[..., 0]


def dot(x: Array, y: Array) -> Array:
    """The inner product of the last axes, which stays with width one: (..., D), (..., D) -> (..., 1)."""
    return (x[..., None, :] @ y[..., :, None])[..., 0]


def transpose(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)


def maximum(x: Array, y: Array) -> Array:
    """The larger of the two, elementwise. Number systems that cannot compare bring a ``maximum`` of their own."""
    return _maximum_of_objects(x, y) if object in (x.dtype, y.dtype) else np.maximum(x, y)


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x)), and exp(x) / (1 + exp(x)) below 0: neither overflows. At 0 both maxima choose the first."""
    return np.exp(-maximum(0 * x, -x)) / (1 + np.exp(-maximum(x, -x)))


def largest(x: Array) -> Array:
    """The largest along the last axis, which stays with width one."""
    return (_maximum_of_objects if x.dtype == object else np.maximum).reduce(x, axis=-1, keepdims=True)


_maximum_of_objects = np.frompyfunc(lambda x, y: x.maximum(y) if hasattr(x, "maximum") else y.maximum(x), 2, 1)
MAXIMA = (np.maximum, _maximum_of_objects)


def decays(log_decay: Array) -> tuple[Array, Array, Array]:
    """Products of the decays of a sequence, (..., T, D):

    ``between`` (..., T, T, D): [t, s] is the decay of what token s wrote, seen at token t; 1 at t = s and 0 before s;
    ``since_start`` (..., T, D): the decay of the incoming state, seen at token t;
    ``until_end`` (..., T, D): the decay of what token s wrote, seen after the last token.

    Single decays are multiplied. Differences of cumulative sums would lose digits at strong gates and give NaN at
    -inf; arithmetic that models kernels asks for them.
    """
    if getattr(log_decay, "decays_by_differences", False):
        return decays_by_differences(log_decay)
    alpha = np.exp(log_decay)
    rows, row = [], alpha[..., :0, :]
    for t in range(alpha.shape[-2]):
        now = alpha[..., t : t + 1, :]
        row = np.concatenate([row * now, 1 + 0 * now], axis=-2)
        future = np.zeros(alpha[..., t + 1 :, :].shape, dtype=np.int8)
        rows.append(np.concatenate([row, future], axis=-2))
    between = np.stack(rows, axis=-3)
    return between, between[..., :, 0, :] * alpha[..., :1, :], between[..., -1, :, :]


def decays_by_differences(log_decay: Array) -> tuple[Array, Array, Array]:
    """The same as kernels compute it: exponentials of differences of cumulative sums."""
    total = np.cumsum(log_decay, axis=-2)
    causal = np.tri(total.shape[-2], dtype=bool)[:, :, None]
    between = np.where(causal, np.exp(np.where(causal, total[..., :, None, :] - total[..., None, :, :], 0)), 0)
    return between, np.exp(total), np.exp(total[..., -1:, :] - total)


def products(q: Array, k: Array, between: Array) -> Array:
    """sum_d q[t, d] k[s, d] between[t, s, d]: (..., T, T). A decay of width one stands outside the sum."""
    if between.shape[-1] == 1:
        return (q @ transpose(k)) * between[..., 0]
    return np.einsum("...td,...sd,...tsd->...ts", q, k, between)


def scan(decay: Array, write: Array, axis: int) -> tuple[Array, Array]:
    """For every t along the axis: the product of all decays up to t, and the sum of all writes, decayed, up to t.

    After n rounds of doubling every entry has collected 2^n tokens. S_t is then decayed[t] S_0 + written[t].
    """

    def cut(x: Array, start: int, stop: int) -> Array:
        return x[(..., slice(start, stop)) + (slice(None),) * (-axis - 1)]

    size, reach = write.shape[axis], 1
    while reach < size:
        later = cut(decay, reach, size)
        written = cut(write, reach, size) + later * cut(write, 0, size - reach)
        decayed = later * cut(decay, 0, size - reach)
        write = np.concatenate([cut(write, 0, reach), written], axis=axis)
        decay = np.concatenate([cut(decay, 0, reach), decayed], axis=axis)
        reach *= 2
    return decay, write


def turn(real: Array, imag: Array, angle: Array) -> tuple[Array, Array]:
    """The complex numbers times exp(i angle), as pairs of real ones."""
    cos, sin = np.cos(angle), np.sin(angle)
    return cos * real - sin * imag, sin * real + cos * imag


def unit_lower_solve(L: Array, B: Array) -> Array:
    """The X with X + L X = B for a strictly lower-triangular L, by forward substitution: never ill-posed."""
    rows = [B[..., :1, :]]
    for t in range(1, B.shape[-2]):
        rows.append(B[..., t : t + 1, :] - L[..., t : t + 1, :t] @ np.concatenate(rows, axis=-2))
    return np.concatenate(rows, axis=-2)


def solve(A: Array, b: Array) -> Array:
    """The x with A x = b by elimination without pivoting: for positive definite A, (..., K, K), (..., K, R)."""
    first, row = b[..., :1, :] / A[..., :1, :1], A[..., :1, 1:] / A[..., :1, :1]
    if A.shape[-1] == 1:
        return first
    column = A[..., 1:, :1]
    rest = solve(A[..., 1:, 1:] - column * row, b[..., 1:, :] - column * first)
    return np.concatenate([first - (transpose(row) * rest).sum(axis=-2, keepdims=True), rest], axis=-2)
