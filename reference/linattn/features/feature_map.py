"""The record of a feature map: what a user may rely on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Array = Any


@dataclass(frozen=True)
class FeatureMap:
    """A map of the last axis, ``apply(x, **parameters)``; ``parameters`` names what it needs beside x.

    ``sign`` is that of the weights phi(q).phi(k), which a normaliser sums: "positive", "non-negative" or "signed", and
    of Taylor series and powers that at even degrees.
    """

    name: str
    apply: Callable[..., Array]
    width: Callable[..., int]  # the number of features, of K and the parameters
    sign: str
    source: str
    formula: str = ""  # phi(q).phi(k) in closed form, where there is one
    kernel: Callable[..., Array] | None = None  # the same: kernel(q, k, **parameters), (..., K) twice to (..., 1)
    in_expectation: bool = False  # the kernel is the mean over draws of W
    causal: bool = True  # the features of a token depend on that token alone
    parameters: tuple[str, ...] = ()

    def __call__(self, x: Array, **parameters: Any) -> Array:
        if set(parameters) != set(self.parameters):
            wanted = ", ".join(self.parameters) or "none"
            raise ValueError(f"parameters of {self.name} must be {wanted}; got {', '.join(parameters) or 'none'}")
        return self.apply(x, **parameters)


def number(value: float, like: Array) -> Array:
    """The number in the number system of ``like``, with its leading axes and one channel."""
    return 0 * like[..., :1] + value
