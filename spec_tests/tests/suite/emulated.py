"""Implementations of lower precision, emulated: float32 arithmetic with all the freedom that a kernel has.

Operands of contractions are rounded as tensor cores do; sums run in any order; decays over several tokens are products,
differences of cumulative sums under the exponential, or powers.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from linattn import Variant, algebra, forms
from linattn.variants import simple_gla
from linattn_spec import Profile
from linattn_spec.frameworks import typed

Results = dict[str, np.ndarray]


@dataclass(frozen=True)
class Kernel:
    """How an implementation computes."""

    name: str
    chunk: int = 0  # 0: token by token
    order: str = ""  # of the terms of a sum: "forwards" or "backwards", one by one; else as NumPy pleases
    decays: Callable[[Any], Any] = algebra.decays
    operand_bits: int = 0  # 0: as the profile has it
    state_bits: int = 24  # that are kept from one token to the next

    def __call__(
        self, variant: Variant, profile: Profile, inputs: dict[str, Any], state: tuple
    ) -> dict[str, np.ndarray]:
        """The results as stored, by the names of the verdict."""
        bits = self.operand_bits or profile.operand_bits
        arrays = {name: emulated(x, bits, self.order) for name, x in inputs.items()}
        start = tuple(emulated(x, bits, self.order) for x in state)
        own = with_step(with_decays(variant, self.decays), self.state_bits)
        if self.chunk:
            state, output = forms.chunkwise(own, start, arrays, self.chunk)
        else:
            state, output = forms.recurrent(own, start, arrays)
        final = {f"final_state/{item.name}": x for item, x in zip(variant.state, state, strict=True)}
        stored = {"output": profile.array, **dict.fromkeys(final, profile.state)}
        return {name: typed(x, stored[name]).values for name, x in ({"output": output} | final).items()}


class Emulated(np.ndarray):
    """A float32 array whose contractions round their operands to ``bits``."""

    bits: int
    order: str

    def __array_finalize__(self, other: Any) -> None:
        self.bits, self.order = getattr(other, "bits", 24), getattr(other, "order", "")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, Emulated) else x for x in inputs]
        if ufunc is np.matmul:
            x, y = (rounded(x, self.bits) for x in plain)
            return self.like(one_by_one(x, y, self.order) if self.order else x @ y)
        return self.like(getattr(ufunc, method)(*plain, **options))

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.einsum:
            subscripts, *operands = arguments
            return self.like(np.einsum(subscripts, *(rounded(np.asarray(x), self.bits) for x in operands)))
        return self.like(super().__array_function__(function, types, arguments, options))

    def like(self, x: Any) -> Any:
        return emulated(x, self.bits, self.order) if np.asarray(x).dtype.kind == "f" else x


def emulated(x: Any, bits: int, order: str) -> Emulated:
    array = np.asarray(x, dtype=np.float32).view(Emulated)
    array.bits, array.order = bits, order
    return array


def rounded(x: np.ndarray, bits: int) -> np.ndarray:
    """To the nearest number of that many significant bits, ties to even."""
    mantissa, exponent = np.frexp(x)
    return x if bits >= 24 else np.ldexp(np.rint(mantissa * np.float32(2.0**bits)), exponent - bits)


def one_by_one(x: np.ndarray, y: np.ndarray, order: str) -> np.ndarray:
    terms = range(x.shape[-1]) if order == "forwards" else reversed(range(x.shape[-1]))
    total = np.zeros(x.shape[:-1] + y.shape[-1:], dtype=np.float32)
    for i in terms:
        total = total + x[..., :, i, None] * y[..., None, i, :]
    return total


def with_step(variant: Variant, state_bits: int) -> Variant:
    def step(*state: Any, **token: Any) -> Any:
        state, output = variant.step(*state, **token)
        return tuple(emulated(rounded(np.asarray(x), state_bits), x.bits, x.order) for x in state), output

    return replace(variant, step=step)


def with_decays(variant: Variant, decays: Callable[[Any], Any]) -> Variant:
    """The same closed form with another way to compute the decays over several tokens."""

    def exchanged(function: Any, **more: Any) -> FunctionType:
        return FunctionType(function.__code__, function.__globals__ | {"decays": decays} | more)

    gated = SimpleNamespace(parallel=exchanged(simple_gla.parallel))
    return replace(variant, parallel=exchanged(variant.parallel, simple_gla=gated))


def differences(log_decay: Any, exp: Any = np.exp, base: float = 1.0) -> Any:
    """As most kernels do: exp of differences of cumulative sums, in base e or 2."""
    total = np.cumsum(log_decay * np.float32(base), axis=-2)
    return exponentials(total[..., :, None, :] - total[..., None, :, :], total, total[..., -1:, :] - total, exp)


def base_2(log_decay: Any) -> Any:
    return differences(log_decay, np.exp2, 1 / np.log(2))


def powers(log_decay: Any) -> Any:
    """Of a constant decay: exp of multiples of its logarithm."""
    g, t = log_decay[..., :1, :], np.arange(log_decay.shape[-2], dtype=np.float32)[:, None]
    return exponentials((t[:, None] - t) * g[..., None, :], (t + 1) * g, (t[::-1]) * g, np.exp)


def exponentials(between: Any, since_start: Any, until_end: Any, exp: Any) -> Any:
    causal = np.tri(between.shape[-3], dtype=np.float32)[:, :, None]
    return exp(np.where(causal > 0, between, 0)) * causal, exp(since_start), exp(until_end)
