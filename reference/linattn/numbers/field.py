"""Exact algebra: numbers of the finite field GF(2^61 - 1), in which an identity between two forms is an equality.

``Number`` is a field element, ``Log`` an exponent: an integer modulo p - 1. ``exp`` of an exponent e is g^e for a
primitive root g, so exp(x + y) = exp(x) exp(y) holds exactly. ``Log(None)`` is the logarithm of zero: it absorbs,
and its exponential is 0. If two rational functions of the inputs differ, a random evaluation tells them apart
except with a probability of about degree / p (Schwartz-Zippel), below 1e-14 for everything here. No tolerance, no
flake.

The order of exponents means nothing, which is what a stabiliser needs: its choice must not change the result.
"""

import hashlib
import random
from typing import Any

import numpy as np

PRIME = (1 << 61) - 1
GENERATOR = 37  # a primitive root modulo PRIME


class Number:
    """An element of GF(PRIME). It mixes with integers and refuses anything that is not one."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: int) -> None:
        self.value = int(value) % PRIME

    def __repr__(self) -> str:
        return f"Number({self.value})"

    def __eq__(self, other: object) -> bool:
        value = _integer(other)
        return value is not None and (self.value - value) % PRIME == 0

    def __neg__(self) -> "Number":
        return Number(-self.value)

    def __add__(self, other: Any) -> "Number":
        value = _integer(other)
        return NotImplemented if value is None else Number(self.value + value)

    def __mul__(self, other: Any) -> "Number":
        value = _integer(other)
        return NotImplemented if value is None else Number(self.value * value)

    def __sub__(self, other: Any) -> "Number":
        value = _integer(other)
        return NotImplemented if value is None else Number(self.value - value)

    def __rsub__(self, other: Any) -> "Number":
        return -self + other

    def __truediv__(self, other: Any) -> "Number":
        value = _integer(other)
        return NotImplemented if value is None else Number(self.value * pow(value, -1, PRIME))

    def __rtruediv__(self, other: Any) -> "Number":
        return Number(pow(self.value, -1, PRIME)) * other

    __radd__ = __add__
    __rmul__ = __mul__


AT_ZERO = {"exp": 1, "expm1": 0, "log1p": 0, "sin": 0, "cos": 1, "tanh": 0, "sqrt": 0}


def _function(name: str) -> Any:
    """A function that is not rational has any value that depends on its argument alone, and the true one at 0.

    What holds then holds for every function in its place. Only ``Log`` has an exponential with exp(x + y) =
    exp(x) exp(y).
    """

    def apply(x: Number) -> Number:
        digest = hashlib.blake2b(f"{name} {x.value}".encode()).digest()
        return Number(int.from_bytes(digest) if x.value else AT_ZERO[name])

    return apply


for _name in AT_ZERO:
    setattr(Number, _name, _function(_name))


class Log:
    """An exponent modulo PRIME - 1, or None for the logarithm of zero."""

    __slots__ = ("exponent",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, exponent: int | None) -> None:
        self.exponent = None if exponent is None else int(exponent) % (PRIME - 1)

    def __repr__(self) -> str:
        return f"Log({self.exponent})"

    def exp(self) -> Number:
        return Number(0 if self.exponent is None else pow(GENERATOR, self.exponent, PRIME))

    def maximum(self, other: Any) -> "Log":
        other = _log(other)
        if None in (self.exponent, other.exponent):
            return other if self.exponent is None else self
        return self if self.exponent >= other.exponent else other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Log) and self.exponent == other.exponent

    def __neg__(self) -> "Log":
        if self.exponent is None:
            raise ZeroDivisionError("log 0 has no negative")
        return Log(-self.exponent)

    def __add__(self, other: Any) -> "Log":
        other = _log(other)
        if other is None:
            return NotImplemented
        return Log(None if None in (self.exponent, other.exponent) else self.exponent + other.exponent)

    def __sub__(self, other: Any) -> "Log":
        return self + -_log(other)

    def __rsub__(self, other: Any) -> "Log":
        return -self + other

    def __mul__(self, other: Any) -> "Log":
        """The product of two exponents, as in a score q.k that is to be exponentiated."""
        factor = other.exponent if isinstance(other, Log) else _integer(other)
        if factor is None or isinstance(other, Number):
            return NotImplemented
        if self.exponent is None:
            raise ZeroDivisionError("log 0 has no multiples")
        return Log(self.exponent * factor)

    __radd__ = __add__
    __rmul__ = __mul__


def _integer(x: Any) -> int | None:
    if isinstance(x, Number):
        return x.value
    if isinstance(x, int | np.integer | np.bool_) or (isinstance(x, float) and x.is_integer()):
        return int(x)
    return None


def _log(x: Any) -> Any:
    """0 and -inf are the only floats with a meaning as an exponent."""
    if isinstance(x, Log):
        return x
    if isinstance(x, int | float | np.integer) and (x == 0 or x == float("-inf")):
        return Log(0 if x == 0 else None)
    return None


def draw(shape: tuple[int, ...], kind: str, rng: random.Random) -> Any:
    """Random numbers, or exponents where ``kind`` is "log"."""
    make = Log if kind == "log" else Number
    values = np.array([make(rng.randrange(1, PRIME - 1)) for _ in range(int(np.prod(shape)))] + [None], dtype=object)
    return values[:-1].reshape(shape) if shape else values[0]
