"""Input values, from raw counter-based bits: the same on every machine, with every version of NumPy.

A draw is a name of this file's ``DRAWS``, a shape and a key. Every value lies on the bfloat16 grid (exact in
bfloat16, float16, float32 and float64) or, for gates whose cumulative sums should round, on the float32 grid. Only
+ - * / and sqrt are used, on numbers that stay exact where an order of summation could matter.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Shape = tuple[int, ...]
SMALLEST = 2.0**-12  # smaller values become 0, so that float16 holds the bfloat16 grid exactly


@dataclass(frozen=True)
class Draw:
    """How an array is made, and as which dtype it is stored."""

    draw: str
    shape: Shape
    key: str
    time: int = -2  # the axis of tokens

    @property
    def dtype(self) -> str:
        return "F32" if self.draw.endswith("f32") else "BF16"

    def array(self) -> np.ndarray:
        bits = np.random.Philox(key=int(self.key, 16)).random_raw(max(1, int(np.prod(self.shape))))
        shaped = bits[: int(np.prod(self.shape))].reshape(self.shape)
        values = np.moveaxis(DRAWS[self.draw](np.moveaxis(shaped, self.time, -2)), -2, self.time)
        return values.astype("<f4").astype(float) if self.dtype == "F32" else bfloat16(values)


def key_of(text: str) -> str:
    """The key that belongs to a case and an input: 128 bits of a hash of their names."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def bfloat16(x: np.ndarray) -> np.ndarray:
    """Rounded to the nearest bfloat16, ties to even."""
    bits = np.asarray(x, dtype="<f4").view("<u4").astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16) << np.uint64(16)
    values = rounded.astype("<u4").view("<f4").astype(float)
    return np.where(np.abs(values) < SMALLEST, 0.0, values)


def fraction(bits: np.ndarray) -> np.ndarray:
    """Uniform on [0, 1) with 24 bits: exact in float32."""
    return (bits >> np.uint64(40)).astype(float) * 2.0**-24


def bell(bits: np.ndarray) -> np.ndarray:
    """A sum of four uniforms: mean 0, standard deviation 1.15, at most 4 in size."""
    pieces = [((bits >> np.uint64(16 * n)) & np.uint64(0xFFFF)).astype(float) for n in range(4)]
    return (np.sum(pieces, axis=0) - 2.0 * 0xFFFF) * 2.0**-15


def unit(bits: np.ndarray) -> np.ndarray:
    """Vectors along the last axis, of unit length up to the final rounding."""
    x = bell(bits)
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))


def token_of(bits: np.ndarray) -> Any:
    """The number of the token of every element of (..., T, D)."""
    return np.broadcast_to(np.arange(bits.shape[-2])[:, None], bits.shape)


def one_hot(bits: np.ndarray) -> np.ndarray:
    """A 1 in one place of the last axis, chosen by the first number of each vector."""
    place = (bits[..., :1] >> np.uint64(40)) % np.uint64(bits.shape[-1])
    return (np.arange(bits.shape[-1]) == place).astype(float)


def keep_or_forget(bits: np.ndarray) -> np.ndarray:
    """0, and in one of four places -inf."""
    return np.where(bits >> np.uint64(62) == 0, -np.inf, 0.0)


def reset(bits: np.ndarray) -> np.ndarray:
    """Mild gates; -inf in all channels of every fifth token and in the first channel of the token after."""
    values, t = -fraction(bits), token_of(bits)
    first = np.arange(bits.shape[-1]) == 0
    return np.where((t % 5 == 3) | ((t % 5 == 4) & first & (t > 4)), -np.inf, values)


def faint_at_resets(bits: np.ndarray) -> np.ndarray:
    """Large but for the tokens at which ``reset`` forgets everything: e^-20 of what was before outweighs those."""
    return bell(bits) * np.where(token_of(bits) % 5 == 3, 2.0**-10, 2.0**13)


def faint_keys_at_resets(bits: np.ndarray) -> np.ndarray:
    """The same, so faint that the score of a query of 2^13 is a small number."""
    return faint_at_resets(bits) * np.where(token_of(bits) % 5 == 3, 2.0**-3, 1)


def paused(bits: np.ndarray) -> np.ndarray:
    """-inf at the first two tokens and where ``reset`` forgets everything."""
    t = token_of(bits)
    return np.where((t < 2) | (t % 5 == 3), -np.inf, bell(bits))


def spike(bits: np.ndarray) -> np.ndarray:
    """Slow decays, and once -20: what a cumulative sum then rounds must not be seen by later tokens."""
    return np.where(token_of(bits) == 4, -20.0, -fraction(bits) * 2.0**-4)


def far(bits: np.ndarray) -> np.ndarray:
    """Far below 0, where a softplus begins to be its argument, where it is, and where an exponential overflows."""
    return np.choose((bits >> np.uint64(62)).astype(int), [-40.0, 5.0, 20.0, 96.0]) + 4 * fraction(bits << np.uint64(2))


DRAWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "bell": bell,
    "bell-f32": bell,
    "unit": unit,
    "short-unit": lambda bits: 0.75 * unit(bits),
    "positive": lambda bits: np.abs(bell(bits)) + 2.0**-4,
    "one-hot": one_hot,
    "integers": lambda bits: (bits >> np.uint64(40)).astype(float) % 5 - 2,
    "keep-or-forget": keep_or_forget,
    "zero": lambda bits: np.zeros(bits.shape),
    "one": lambda bits: np.ones(bits.shape),
    "count": lambda bits: token_of(bits) + 1.0,
    "minus-one": lambda bits: -np.ones(bits.shape),
    "half": lambda bits: np.full(bits.shape, 0.5),
    "mild": lambda bits: -fraction(bits),
    "slow": lambda bits: -fraction(bits) * 2.0**-5,
    "medium-f32": lambda bits: -fraction(bits) * 5,
    "strong": lambda bits: -fraction(bits) * 20,
    "spike-f32": spike,
    "reset": reset,
    "faint-at-resets": faint_at_resets,
    "faint-keys-at-resets": faint_keys_at_resets,
    "never": lambda bits: np.full(bits.shape, -np.inf),
    "far": far,
    "far-below": lambda bits: -8 - fraction(bits) * 8,
    "small-log": lambda bits: -4 - fraction(bits) * 2,
    "large-log": lambda bits: 6 + fraction(bits) * 2,
    "angle": lambda bits: fraction(bits) * 2.0**-7,
    "strength": fraction,
    "strength-to-2": lambda bits: 2 * fraction(bits),
    "strength-0-1-2": lambda bits: (token_of(bits) % 3).astype(float),
    "large-f32": lambda bits: 2.0**40 * bell(bits),
    "large-positive-f32": lambda bits: 2.0**40 * (np.abs(bell(bits)) + 2.0**-4),
    "above": lambda bits: bell(bits) + 96,
    "below": lambda bits: bell(bits) - 60,
    "rising": lambda bits: bell(bits) + 3 * token_of(bits),
    "falling": lambda bits: bell(bits) - 3 * token_of(bits),
    "paused": paused,
    "sharp": lambda bits: bell(bits) * 2.0**13,
    "large": lambda bits: bell(bits) * 2.0**28,  # beyond float16: of states, which are kept in float32
    "every-fourth": lambda bits: (token_of(bits) % 4 == 2).astype(float),
}
