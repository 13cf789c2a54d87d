"""Kernels in closed form, (..., K) and (..., K) to (..., 1), and attention with them: quadratic, and exact.

They are what a feature map is measured by: phi(q).phi(k) equals one of them, approaches it with its degree, or has it
as its mean over draws.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import dot

Array = Any


def inner_product(q: Array, k: Array) -> Array:
    return dot(q, k)


def exponential(q: Array, k: Array) -> Array:
    """exp(q.k), the weight of softmax attention without scale."""
    return np.exp(dot(q, k))


def gaussian(q: Array, k: Array, sigma: Any) -> Array:
    """exp(-|q - k|^2 / 2 sigma^2) = h(q) exp(q.k / sigma^2) h(k) with h(x) = exp(-|x|^2 / 2 sigma^2).

    Under a normaliser h(q) cancels and h(k) does not: it is softmax attention with scores q.k / sigma^2 and a bias
    -|k|^2 / 2 sigma^2 on every key, which keys of one length do not see.
    """
    return np.exp(-half_square(q - k, sigma))


def half_square(x: Array, sigma: Any) -> Array:
    """|x|^2 / 2 sigma^2."""
    x = x / sigma
    return dot(x, x) / 2


def exponential_series(z: Array, degree: int) -> Array:
    """sum of z^j / j! for j = 0 ... degree: positive everywhere at even degrees."""
    total = 1 + 0 * z
    for j in range(degree, 0, -1):
        total = 1 + z * total / j
    return total


def kernel_attention(q: Array, k: Array, v: Array, kernel: Callable[[Array, Array], Array]) -> Array:
    """The causal mean of the values with weights kernel(q_t, k_s): O(T^2), no state."""
    weights = np.tril(kernel(q[..., :, None, :], k[..., None, :, :])[..., 0])
    return weights @ v / weights.sum(axis=-1, keepdims=True)
