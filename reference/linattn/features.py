"""Feature maps, elementwise or along the last axis, with the properties that a user may rely on.

They run before the operator and on every number system that has the functions they use. ``exp`` of each channel is
not the exponential of the inner product: its kernel is a sum of exp(q_d + k_d).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn.algebra import maximum

Array = Any


@dataclass(frozen=True)
class FeatureMap:
    """A map of the last axis; ``width`` is the factor by which that axis grows."""

    name: str
    apply: Callable[[Array], Array]
    kernel: str  # phi(q).phi(k) in closed form, where there is one
    sign: str  # "positive", "non-negative" or "signed": what a normaliser may rely on
    width: int
    source: str

    def __call__(self, x: Array) -> Array:
        return self.apply(x)


def relu(x: Array) -> Array:
    """max(x, 0). All features of a token can be 0, and then its normaliser is 0."""
    return maximum(x, 0 * x)


def elu_plus_one(x: Array) -> Array:
    """x + 1 for x > 0, exp(x) below: strictly positive, with every digit also where elu(x) + 1 would cancel to 0."""
    return np.where(x > 0, x + 1, np.exp(smaller_than_zero(x)))


def smaller_than_zero(x: Array) -> Array:
    """min(x, 0): keeps exp from overflowing where its value is not used."""
    return -maximum(-x, 0 * x)


def sin_cos(x: Array) -> Array:
    """[sin x, cos x]. Signed: with a normaliser the denominator may vanish."""
    return np.concatenate([np.sin(x), np.cos(x)], axis=-1)


FEATURE_MAPS: tuple[FeatureMap, ...] = (
    FeatureMap(
        "relu",
        relu,
        "sum_d max(q_d, 0) max(k_d, 0)",
        "non-negative",
        1,
        "a choice of libraries; Kasai et al., 2021, arXiv:2103.13076, learn relu(W x + b)",
    ),
    FeatureMap("elu+1", elu_plus_one, "", "positive", 1, "Katharopoulos et al., 2020, arXiv:2006.16236, equation (7)"),
    FeatureMap(
        "exp",
        np.exp,
        "sum_d exp(q_d + k_d)",
        "positive",
        1,
        "the bare exponential; Zhang et al., 2024, arXiv:2402.04347, learn exp(W x + b)",
    ),
    FeatureMap(
        "sin_cos",
        sin_cos,
        "sum_d cos(q_d - k_d)",
        "signed",
        2,
        "Peng et al., 2021, arXiv:2103.02143, without their projection; order as in their code",
    ),
)


def feature_map(name: str) -> FeatureMap:
    """The feature map of that name. Raises ``ValueError`` with the names there are."""
    for candidate in FEATURE_MAPS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"feature map must be one of {', '.join(m.name for m in FEATURE_MAPS)}; got {name!r}")
