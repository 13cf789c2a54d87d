"""Numbers of the finite field GF(2^61 - 1): see ``field``, which has the exponents and the angles that go with them."""

import hashlib
from typing import Any

import numpy as np

PRIME = (1 << 61) - 1


class Number:
    """An element of GF(PRIME). It mixes with integers and refuses anything that is not one."""

    __slots__ = ("value",)
    __hash__ = None  # type: ignore[assignment]
    unordered = True

    def __init__(self, value: int) -> None:
        self.value = int(value) % PRIME

    def __repr__(self) -> str:
        return f"Number({self.value})"

    def __eq__(self, other: object) -> bool:
        value = whole(other)
        return value is not None and (self.value - value) % PRIME == 0

    def __neg__(self) -> "Number":
        return Number(-self.value)

    def __add__(self, other: Any) -> "Number":
        value = whole(other)
        return NotImplemented if value is None else Number(self.value + value)

    def __mul__(self, other: Any) -> "Number":
        value = whole(other)
        return NotImplemented if value is None else Number(self.value * value)

    def __sub__(self, other: Any) -> "Number":
        value = whole(other)
        return NotImplemented if value is None else Number(self.value - value)

    def __rsub__(self, other: Any) -> "Number":
        return -self + other

    def __truediv__(self, other: Any) -> "Number":
        value = whole(other)
        return NotImplemented if value is None else Number(self.value * pow(value, -1, PRIME))

    def __rtruediv__(self, other: Any) -> "Number":
        return Number(pow(self.value, -1, PRIME)) * other

    def maximum(self, other: Any) -> "Number":
        """One of the two, whatever the order of its arguments: what holds then holds for any choice."""
        return self if self.value >= Number(whole(other) or 0).value else Number(whole(other) or 0)

    __radd__ = __add__
    __rmul__ = __mul__


TRUE = {"exp": (0, 1), "expm1": (0, 0), "log": (1, 0), "log1p": (0, 0), "sin": (0, 0), "cos": (0, 1), "tanh": (0, 0)}
TRUE |= {"sqrt": (0, 0)}  # an argument, and the value there


def _function(name: str) -> Any:
    """A function that is not rational has any value that depends on its argument alone, and the true one at one place.

    What holds then holds for every function in its place. Only ``Log`` has an exponential with exp(x + y) =
    exp(x) exp(y).
    """

    def apply(x: Number) -> Number:
        place, value = TRUE[name]
        digest = hashlib.blake2b(f"{name} {x.value}".encode()).digest()
        return Number(value if x.value == place else int.from_bytes(digest))

    return apply


for _name in TRUE:
    setattr(Number, _name, _function(_name))


def whole(x: Any) -> int | None:
    if isinstance(x, Number):
        return x.value
    if isinstance(x, int | np.integer | np.bool_) or (isinstance(x, float) and x.is_integer()):
        return int(x)
    return None
