"""Random arithmetic: how far may a computation of a promised precision stray?

The reference itself runs ``samples`` times at once in an arithmetic that errs at random as the promise allows. The
spread of the results is the unit in which implementations are judged. Five rules make one model serve all variants,
lengths and orders of summation:

persistent   the error is a hash of the value: equal numbers err equally, so that a constant decay biases every step;
exact        a value that the format holds is not rounded; other inputs are rounded once;
correlated   half the variance of the error is common to an array: sums over time in any order show in the step form;
any order    a sum r of n terms x carries the mean squared error of sequential summation over all orders,
             n (r^2 / 3 + sum x^2 / 6) + r^2;
log decays   carry the backward error of a cumulative sum over ``gate_chunk`` tokens, as every chunkwise kernel has.

Operands of contractions (``@`` and ``einsum``: see ``linattn.algebra``) are rounded to ``operand_bits``, everything
else to ``bits``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

LIBRARY = 2.0  # error of exp, sin, log ... in units of the basic operations
ROUNDLESS = (np.maximum, np.minimum, np.negative, np.absolute)
BASIC = (np.add, np.subtract, np.multiply, np.divide, np.sqrt, np.square)
U64 = np.uint64


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """The promise: significant bits of operands of contractions and of all else; tokens in a sum of log decays."""

    operand_bits: int
    bits: int
    gate_chunk: int = 64
    samples: int = 16
    seed: int = 0
    decays_by_differences: bool = False  # of cumulative sums, as kernels compute them: not for gates of -inf

    @property
    def unit(self) -> float:
        return 2.0**-self.bits

    @property
    def keys(self) -> np.ndarray:
        """Two hash keys per sample."""
        return np.random.Philox(self.seed).random_raw(2 * self.samples).reshape(2, self.samples)


class Noisy(np.ndarray):
    """A float64 array (samples, ...) that computes in its ``arithmetic``."""

    arithmetic: Arithmetic
    keys: np.ndarray

    def __array_finalize__(self, other: Any) -> None:
        self.arithmetic, self.keys = getattr(other, "arithmetic", None), getattr(other, "keys", None)  # type: ignore[assignment]

    @property
    def decays_by_differences(self) -> bool:
        return self.arithmetic.decays_by_differences

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        like = next(x for x in inputs if isinstance(x, Noisy))
        plain = [np.asarray(x) if isinstance(x, Noisy) else x for x in inputs]
        if ufunc is np.matmul:
            return like.contraction(np.matmul, plain, terms=plain[0].shape[-1])
        result = getattr(ufunc, method)(*plain, **options)
        if result.dtype.kind != "f" or ufunc in ROUNDLESS:
            return like.adopt(result) if result.dtype.kind == "f" else result
        if ufunc is np.add and method == "reduce":
            terms = plain[0].size // max(result.size, 1)
            return like.summed(result, np.add.reduce(plain[0] ** 2, **options), terms)
        if ufunc is np.add and method == "accumulate":
            return like.adopt(like.accumulated(result, plain[0], options["axis"]))
        return like.adopt(like.rounded(result, like.arithmetic.unit * (1 if ufunc in BASIC else LIBRARY)))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.einsum:
            return self.einsum(*arguments)
        result = super().__array_function__(function, types, arguments, options)
        return self.adopt(result) if isinstance(result, np.ndarray) and result.dtype.kind == "f" else result

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        left, right = subscripts.split("->")
        summed = set(left) - set(right) - {",", "."}
        sizes = dict(zip(left.split(",")[0][::-1], operands[0].shape[::-1], strict=False))
        like = next(x for x in operands if isinstance(x, Noisy))
        terms = int(np.prod([sizes[letter] for letter in summed]))
        return like.contraction(lambda *x: np.einsum(subscripts, *x), [np.asarray(x) for x in operands], terms)

    def contraction(self, contract: Callable[..., Any], operands: list[Any], terms: int) -> "Noisy":
        """Operands are rounded once; the sum of their products errs in any order."""
        operands = [x * (1 + 2.0**-self.arithmetic.operand_bits * self.error(x)) for x in operands]
        return self.summed(contract(*operands), contract(*(x * x for x in operands)), terms)

    def summed(self, result: Any, squares: Any, terms: int) -> "Noisy":
        if terms <= 1:
            return self.adopt(self.rounded(result, self.arithmetic.unit))
        variance = terms * (result**2 / 3 + squares / 6) + result**2
        return self.adopt(result + self.arithmetic.unit * self.error(result) * np.sqrt(variance))

    def accumulated(self, result: Any, terms: Any, axis: int) -> Any:
        """Every partial sum is rounded, after equal terms alike, and the errors add up. Exponents may be those of base
        2: no sum of them is short.
        """
        exact = self.exact(result) & (not self.decays_by_differences) | ~np.isfinite(result)
        steps = self.arithmetic.unit * hashed(terms, self.keys[0]) * result
        return result + np.add.accumulate(np.where(exact, 0, steps), axis=axis)

    def rounded(self, x: Any, unit: float) -> Any:
        return np.where(self.exact(x), x, x * (1 + unit * self.error(x)))

    def exact(self, x: Any) -> Any:
        """Of a float64 that fills its format, only short values count as exact."""
        held = min(11 + self.arithmetic.bits, 38)
        return (np.ascontiguousarray(x).view(U64) << U64(held)) == 0

    def error(self, x: Any) -> Any:
        """A number in (-sqrt 2, sqrt 2) that depends on the value and, to half of its variance, only on its array."""
        if not x.size:
            return x
        first = np.ascontiguousarray(x).reshape(len(x), -1)[:, :1].reshape((-1,) + (1,) * (x.ndim - 1))
        return (hashed(x, self.keys[0]) + hashed(first, self.keys[1])) * 0.5**0.5

    def adopt(self, x: Any) -> "Noisy":
        array = np.asarray(x).view(Noisy)
        array.arithmetic, array.keys = self.arithmetic, self.keys
        return array


def hashed(x: Any, keys: np.ndarray) -> Any:
    """Every value mixed with the key of its sample into a number in [-1, 1)."""
    key = keys.reshape((-1,) + (1,) * (x.ndim - 1))
    bits = (np.ascontiguousarray(x).view(U64) ^ key) * (key | U64(1))
    bits = (bits ^ (bits >> U64(32))) * U64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> U64(29))) * U64(0xBF58476D1CE4E5B9)
    return ((bits ^ (bits >> U64(32))) >> U64(11)) * 2.0**-52 - 1


def noisy(array: Any, arithmetic: Arithmetic) -> Noisy:
    """The array, once per sample, rounded to the format where the format does not hold it."""
    seed = np.zeros((arithmetic.samples, 1)).view(Noisy)
    seed.arithmetic, seed.keys = arithmetic, arithmetic.keys
    copies = np.repeat(np.asarray(array, dtype=float)[None], arithmetic.samples, axis=0)
    return seed.adopt(seed.rounded(copies, arithmetic.unit))


def noisy_log_decay(array: Any, arithmetic: Arithmetic, axis: int = -2) -> Noisy:
    """Log decays, each with the error of a cumulative sum over the last ``gate_chunk`` tokens along that axis. None
    strays above 0, and 0 stays 0: rounding is monotonic, and to add 0 costs nothing.
    """
    plain = noisy(array, arithmetic)
    total = np.cumsum(np.where(np.isfinite(plain), np.abs(plain), 0).view(np.ndarray), axis=axis)
    chunk, along = arithmetic.gate_chunk, np.moveaxis(total, axis, 0)
    along[chunk:] -= along[:-chunk].copy() if chunk else along
    values = np.asarray(plain)
    strayed = values + arithmetic.unit * hashed(values, plain.keys[0]) * total
    return plain.adopt(np.where(values == 0, values, np.minimum(strayed, 0)))


def noisy_constant_log_decay(array: Any, arithmetic: Arithmetic) -> Noisy:
    """A log decay that is the same at every token: the error that its multiples have in the exponents of a chunk."""
    plain = noisy(array, arithmetic)
    values = np.asarray(plain)
    size = np.where(np.isfinite(values), np.abs(values), 0)
    total = arithmetic.gate_chunk * size * np.minimum(1, size)
    return plain.adopt(values + arithmetic.unit * hashed(values, plain.keys[0]) * total)


def deviations(
    compute: Callable[[dict[str, Any]], Mapping[str, Any]], arrays: Mapping[str, Any], exact: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Result minus truth for every sample: (samples, ...). ``arrays`` are noisy, all with the full leading axes."""
    with np.errstate(all="ignore"):
        results = compute(dict(arrays))
    return {name: np.asarray(results[name]) - truth for name, truth in exact.items()}
