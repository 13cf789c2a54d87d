"""Rigorous balls: every operation encloses the true real value (python-flint's ``arb``), and certificates of
rounding.

``Ball`` wraps ``arb`` to make two silent traps of arrays of objects loud. It has no ``__float__``, so that nothing
falls back to float64 unnoticed; and a comparison of overlapping balls raises ``Undecided`` instead of answering
False.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flint import arb, ctx

from linattn.numbers import lift

PRECISIONS = (96, 128, 192, 256, 384, 512, 1024, 2048, 4096)


class Undecided(ArithmeticError):
    """The balls overlap: this precision does not decide the comparison."""


class NotCertified(ArithmeticError):
    """No precision of the ladder proved every value."""


class Ball:
    """A real number known to lie in an interval."""

    __slots__ = ("arb",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Any) -> None:
        self.arb = value if isinstance(value, arb) else arb(float(value))

    def __repr__(self) -> str:
        return f"Ball({self.arb})"

    def __neg__(self) -> "Ball":
        return Ball(-self.arb)

    def exp(self) -> "Ball":
        return Ball(self.arb.exp())

    def expm1(self) -> "Ball":
        return Ball(self.arb.expm1())

    def log(self) -> "Ball":
        return Ball(self.arb.log())

    def log1p(self) -> "Ball":
        return Ball(self.arb.log1p())

    def sqrt(self) -> "Ball":
        return Ball(self.arb.sqrt())

    def sin(self) -> "Ball":
        return Ball(self.arb.sin())

    def cos(self) -> "Ball":
        return Ball(self.arb.cos())

    def tanh(self) -> "Ball":
        return Ball(self.arb.tanh())

    def maximum(self, other: Any) -> "Ball":
        """An enclosure of the larger one: a tie is no obstacle."""
        return Ball(self.arb.max(_arb(other)))


def _arb(x: Any) -> Any:
    if isinstance(x, Ball):
        return x.arb
    if isinstance(x, int | np.integer):
        return arb(int(x))
    return arb(float(x)) if isinstance(x, float) else None


def _arithmetic(name: str) -> None:
    operation = getattr(operator, name)

    def forward(self: Ball, other: Any) -> Any:
        other = _arb(other)
        return NotImplemented if other is None else Ball(operation(self.arb, other))

    def reflected(self: Ball, other: Any) -> Any:
        other = _arb(other)
        return NotImplemented if other is None else Ball(operation(other, self.arb))

    setattr(Ball, f"__{name}__", forward)
    setattr(Ball, f"__r{name}__", reflected)


def _comparison(name: str, opposite: str) -> None:
    holds, fails = getattr(operator, name), getattr(operator, opposite)

    def compare(self: Ball, other: Any) -> bool:
        other = _arb(other)
        if other is None:
            return NotImplemented
        if not (holds(self.arb, other) or fails(self.arb, other)):
            raise Undecided(f"{self.arb} {name} {other}")
        return holds(self.arb, other)

    setattr(Ball, f"__{name}__", compare)


for _name in ("add", "sub", "mul", "truediv"):
    _arithmetic(_name)
for _name, _opposite in (("lt", "ge"), ("ge", "lt"), ("gt", "le"), ("le", "gt"), ("eq", "ne"), ("ne", "eq")):
    _comparison(_name, _opposite)


def bounds(balls: Any) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the enclosures, each rounded to the nearest float64. Zeros are positive."""
    balls = np.asarray(balls, dtype=object)
    ends = [[float(_arb(x).lower()) + 0.0, float(_arb(x).upper()) + 0.0] for x in balls.ravel()]
    low, high = np.array(ends).reshape(-1, 2).T
    return low.reshape(balls.shape), high.reshape(balls.shape)


def certify(
    compute: Callable[[dict[str, Any]], Mapping[str, Any]], arrays: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], int]:
    """The correctly rounded float64 results of ``compute``, and the precision in bits at which they were proven.

    Rounding is monotone: where both ends of an enclosure round to the same float64, the true value does too.
    Raises ``NotCertified`` where no precision up to the last of ``PRECISIONS`` proves every element.
    """
    before = ctx.prec
    try:
        for precision in PRECISIONS:
            ctx.prec = precision
            try:
                results = compute(lift(Ball, arrays))
            except Undecided:
                continue
            ends = {name: bounds(result) for name, result in results.items()}
            if all(np.array_equal(low, high) and np.isfinite(low).all() for low, high in ends.values()):
                return {name: low for name, (low, _) in ends.items()}, precision
    finally:
        ctx.prec = before
    raise NotCertified(
        f"not every value is proven at {PRECISIONS[-1]} bits: is one of them exactly half-way, or a pole?"
    )
