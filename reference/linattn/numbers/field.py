"""Exact algebra: numbers of the finite field GF(2^61 - 1), in which an identity between two forms is an equality.

``Number`` is a field element, ``Log`` an exponent: an integer modulo p - 1. ``exp`` of an exponent e is g^e for a
primitive root g, so exp(x + y) = exp(x) exp(y) holds exactly. ``Log(None)`` is the logarithm of zero: it absorbs,
and its exponential is 0. If two rational functions of the inputs differ, a random evaluation tells them apart
except with a probability of about degree / p (Schwartz-Zippel), below 1e-14 for everything here. No tolerance, no
flake.

The order of exponents means nothing, which is what a stabiliser needs: its choice must not change the result.
``Angle`` is a rotation, so that cosines and sines obey the addition theorems.
"""

import random
from typing import Any

import numpy as np

from linattn.numbers.modular import PRIME, Number, whole

GENERATOR = 37  # a primitive root modulo PRIME


class Log:
    """An exponent modulo PRIME - 1, or None for the logarithm of zero."""

    __slots__ = ("exponent",)
    __hash__ = None  # type: ignore[assignment]
    unordered = True

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
        log = _log(other)
        return log is not None and self.exponent == log.exponent

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
        """The product of two exponents, as in a score q.k that is to be exponentiated.

        That with a number is an exponent that depends on both alone: nothing is known of a sum of such products.
        """
        factor = other.exponent if isinstance(other, Log) else whole(other)
        if factor is None:
            return NotImplemented
        if self.exponent is None:
            raise ZeroDivisionError("log 0 has no multiples")
        return Log(self.exponent * factor)

    __radd__ = __add__
    __rmul__ = __mul__


class Angle:
    """An angle in units of 1 / (PRIME + 1) of a turn: all rotations are powers of one, ``_turned(1)``."""

    __slots__ = ("units",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, units: int) -> None:
        self.units = int(units) % (PRIME + 1)

    def __repr__(self) -> str:
        return f"Angle({self.units})"

    def cos(self) -> Number:
        return _turned(self.units)[0]

    def sin(self) -> Number:
        return _turned(self.units)[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Angle) and self.units == other.units

    def __neg__(self) -> "Angle":
        return Angle(-self.units)

    def __add__(self, other: Any) -> "Angle":
        other = _angle(other)
        return NotImplemented if other is None else Angle(self.units + other.units)

    def __sub__(self, other: Any) -> "Angle":
        return self + -other

    def __rsub__(self, other: Any) -> "Angle":
        return -self + other

    def __mul__(self, times: Any) -> "Angle":
        n = None if isinstance(times, Number) else whole(times)
        return NotImplemented if n is None else Angle(self.units * n)

    __radd__ = __add__
    __rmul__ = __mul__


def _turned(units: int) -> tuple[Number, Number]:
    """The cosine and the sine, by doubling. (-15/17, 8/17) generates all rotations: its order is PRIME + 1 = 2^61."""
    c, s, turned = Number(-15) / 17, Number(8) / 17, (Number(1), Number(0))
    while units:
        if units % 2:
            turned = c * turned[0] - s * turned[1], s * turned[0] + c * turned[1]
        c, s, units = c * c - s * s, 2 * c * s, units // 2
    return turned


def _angle(x: Any) -> Any:
    """0 is the only number with a meaning as an angle."""
    if isinstance(x, Angle):
        return x
    return Angle(0) if isinstance(x, int | float | np.integer) and x == 0 else None


def _log(x: Any) -> Any:
    """0 and -inf are the only floats with a meaning as an exponent."""
    if isinstance(x, Log):
        return x
    if isinstance(x, int | float | np.integer) and (x == 0 or x == float("-inf")):
        return Log(0 if x == 0 else None)
    return None


def draw(shape: tuple[int, ...], kind: str, rng: random.Random) -> Any:
    """Random numbers; exponents where ``kind`` is "log", rotations for "angle", integers for "count"."""
    make = {"number": Number, "log": Log, "angle": Angle, "count": int}[kind]
    values = np.array([make(rng.randrange(1, PRIME - 1)) for _ in range(int(np.prod(shape)))] + [None], dtype=object)
    return values[:-1].reshape(shape) if shape else values[0]
