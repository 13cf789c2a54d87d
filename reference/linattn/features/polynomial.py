"""Feature maps whose kernel is a polynomial in q.k, in the symmetric form: equal products of channels appear once.

The full tensor power has all K^p products of p channels. Here each product appears once, times the root of how often it
would, which is the same kernel with C(K + p - 1, p) features.
"""

from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from linattn.features.feature_map import FeatureMap, number
from linattn.features.kernels import exponential_series, inner_product
from linattn.norms import layer_norm

Array = Any


def symmetric_power(x: Array, degree: int) -> Array:
    """Features with the kernel (x.y)^degree, one for each choice of channels."""
    choices = list(combinations_with_replacement(range(x.shape[-1]), degree))
    orders = (factorial(degree) // prod(factorial(choice.count(i)) for i in set(choice)) for choice in choices)
    columns = [
        prod((x[..., i : i + 1] for i in choice), start=np.sqrt(number(order, x)))
        for choice, order in zip(choices, orders, strict=True)
    ]
    return np.concatenate(columns, axis=-1)


def power_width(K: int, degree: int) -> int:
    return comb(K + degree - 1, degree)


def series(x: Array, degree: int) -> Array:
    """The features of sum_j (x.y)^j / j!."""
    powers = [symmetric_power(x, j) / np.sqrt(number(factorial(j), x)) for j in range(degree + 1)]
    return np.concatenate(powers, axis=-1)


def series_width(K: int, degree: int) -> int:
    return comb(K + degree, degree)


def taylor(x: Array, degree: int) -> Array:
    """The exponential series of q.k / sqrt(K): the scale of softmax attention is inside, so the operator has none.

    Based's equation in section 4.1 lacks the scale; its listing 1 has it, with all K^2 products of degree 2. Table 4
    counts them once, as here: 153 features of K = 16.
    """
    return series(x / np.sqrt(np.sqrt(number(x.shape[-1], x))), degree)


def scaled(q: Array, k: Array) -> Array:
    return inner_product(q, k) / np.sqrt(number(q.shape[-1], q))


def rebased(x: Array, gamma: Array, beta: Array, eps: Any) -> Array:
    """The squares of q.k / sqrt(K) after a layer norm that learns where the parabola has its lowest point.

    The paper writes this for one channel (section 4) and calls it a square of elements (section 5.3), without 1 / K:
    literally that is ``rebased_elementwise``. fla squares q.k. The paper has a gamma and a beta for q and others for
    k, fla's layer the same for both.
    """
    return symmetric_power(layer_norm(x, gamma, beta, eps), 2) / np.sqrt(number(x.shape[-1], x))


def rebased_elementwise(x: Array, gamma: Array, beta: Array, eps: Any) -> Array:
    """The square of every channel by itself, after the same layer norm."""
    normed = layer_norm(x, gamma, beta, eps)
    return normed * normed


def rebased_kernel(q: Array, k: Array, gamma: Array, beta: Array, eps: Any) -> Array:
    product = inner_product(layer_norm(q, gamma, beta, eps), layer_norm(k, gamma, beta, eps))
    return product * product / q.shape[-1]


MAPS = (
    FeatureMap(
        "taylor",
        taylor,
        series_width,
        "positive",
        "Based (degree 2): Arora et al., 2024, arXiv:2402.18668, section 4.1, listing 1; fla's TaylorFeatureMap",
        "sum_j (q.k / sqrt(K))^j / j!",
        lambda q, k, degree: exponential_series(scaled(q, k), degree),
        parameters=("degree",),
    ),
    FeatureMap(
        "rebased",
        rebased,
        lambda K, gamma, beta, eps: power_width(K, 2),
        "non-negative",
        "ReBased: Aksenov et al., 2024, arXiv:2402.10644, section 4, as in fla's RebasedFeatureMap",
        "(LN(q).LN(k))^2 / K",
        rebased_kernel,
        parameters=("gamma", "beta", "eps"),
    ),
    FeatureMap(
        "rebased_elementwise",
        rebased_elementwise,
        lambda K, gamma, beta, eps: K,
        "non-negative",
        "Aksenov et al., 2024, arXiv:2402.10644, section 5.3, by the letter",
        "sum_d LN(q)_d^2 LN(k)_d^2",
        lambda q, k, gamma, beta, eps: inner_product(*(rebased_elementwise(x, gamma, beta, eps) for x in (q, k))),
        parameters=("gamma", "beta", "eps"),
    ),
    FeatureMap(
        "symmetric_power",
        symmetric_power,
        power_width,
        "non-negative",
        "Gelada et al., 2025, arXiv:2507.04239, equation (9)",
        "(q.k)^degree",
        lambda q, k, degree: prod([inner_product(q, k)] * degree, start=number(1, q)),
        parameters=("degree",),
    ),
)
