"""Arrays that compute as kernels do: operands of contractions are rounded, sums run in a chosen order."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Arithmetic:
    """What is kept of the operands of contractions and of every result, and how sums run."""

    dtype: type
    operand_bits: int
    bits: int = 53
    order: str = ""  # of the terms of a sum: "forwards" or "backwards", one by one; "": as NumPy pleases


class Emulated(np.ndarray):
    """A float32 or float64 array that computes in an ``arithmetic``."""

    arithmetic: Arithmetic

    def __array_finalize__(self, other: Any) -> None:
        self.arithmetic = getattr(other, "arithmetic", None)  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        how = next(x for x in inputs if isinstance(x, Emulated)).arithmetic
        plain = [x.view(np.ndarray) if isinstance(x, Emulated) else x for x in inputs]
        if ufunc is np.matmul:
            x, y = (rounded(x, how.operand_bits) for x in plain)
            return emulated(one_by_one(x, y, how.order) if how.order else x @ y, how)
        return emulated(getattr(ufunc, method)(*plain, **options), how)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.einsum:
            subscripts, *operands = arguments
            plain = (rounded(np.asarray(x), self.arithmetic.operand_bits) for x in operands)
            return emulated(np.einsum(subscripts, *plain), self.arithmetic)
        return emulated(super().__array_function__(function, types, arguments, options), self.arithmetic)


def emulated(x: Any, arithmetic: Arithmetic) -> Any:
    """Floating-point numbers as an array of that arithmetic; all else as it is."""
    if np.asarray(x).dtype.kind != "f":
        return x
    array = np.asarray(rounded(np.asarray(x, dtype=arithmetic.dtype), arithmetic.bits)).view(Emulated)
    array.arithmetic = arithmetic
    return array


def rounded(x: np.ndarray, bits: int) -> np.ndarray:
    """To the nearest number of that many significant bits, ties to even."""
    if x.dtype.kind != "f" or bits > np.finfo(x.dtype).nmant:
        return x
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.rint(mantissa * x.dtype.type(2.0**bits)), exponent - bits)


def one_by_one(x: np.ndarray, y: np.ndarray, order: str) -> np.ndarray:
    terms = range(x.shape[-1]) if order == "forwards" else reversed(range(x.shape[-1]))
    leading = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    total = np.zeros((*leading, x.shape[-2], y.shape[-1]), dtype=np.result_type(x, y))
    for i in terms:
        total = total + x[..., :, i, None] * y[..., None, i, :]
    return total
