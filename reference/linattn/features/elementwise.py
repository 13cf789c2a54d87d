"""Feature maps of every channel by itself, and the inner products they make.

``exp`` of each channel is not the exponential of the inner product: its kernel is a sum of exp(q_d + k_d). sin and cos
are signed, and so is their kernel; with a constant beside them it is not.
"""

from typing import Any

import numpy as np

from linattn.algebra import maximum
from linattn.features.feature_map import FeatureMap
from linattn.features.kernels import inner_product

Array = Any


def identity(x: Array) -> Array:
    return x


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


def one_sin_cos(x: Array) -> Array:
    """[1, sin x, cos x]: the constants lift the kernel of ``sin_cos`` to where it is not negative."""
    return np.concatenate([1 + 0 * x, sin_cos(x)], axis=-1)


def dpfp(x: Array, nu: int) -> Array:
    """r_i r_{i-j} for j = 1 ... nu, with r = [max(x, 0), max(-x, 0)] on a circle. Those of j = K are 0.

    The paper's equation has i + j, its listing 1 rolls as here: the same features in another order.
    """
    return products_on_a_circle(np.concatenate([relu(x), relu(-x)], axis=-1), nu)


def dpfp_mirrored(x: Array, nu: int) -> Array:
    """With r = [max(x, 0), -max(x, 0)], as fla had it up to 0.5.2 (0.6.0 has ``dpfp``): blind to negative channels. Its
    features are signed, and yet no weight is negative, since each feature has one sign for all x.
    """
    return products_on_a_circle(np.concatenate([relu(x), -relu(x)], axis=-1), nu)


def products_on_a_circle(r: Array, nu: int) -> Array:
    rolled = (np.concatenate([r[..., -j:], r[..., :-j]], axis=-1) for j in range(1, nu + 1))
    return np.concatenate([r * other for other in rolled], axis=-1)


def channels(x: Array) -> Array:
    return x.sum(axis=-1, keepdims=True)


MAPS = (
    FeatureMap(
        "identity", identity, lambda K: K, "signed", "linear attention without a feature map", "q.k", inner_product
    ),
    FeatureMap(
        "relu",
        relu,
        lambda K: K,
        "non-negative",
        "a choice of libraries; Kasai et al., 2021, arXiv:2103.13076, learn relu(W x + b); Choromanski et al., 2020, "
        "arXiv:2009.14794, (5) and appendix A.4, have the relu of random W x, with a kernel_epsilon of 1e-3",
        "sum_d max(q_d, 0) max(k_d, 0)",
        lambda q, k: channels(relu(q) * relu(k)),
    ),
    FeatureMap(
        "elu+1",
        elu_plus_one,
        lambda K: K,
        "positive",
        "Katharopoulos et al., 2020, arXiv:2006.16236, equation (7)",
    ),
    FeatureMap(
        "exp",
        np.exp,
        lambda K: K,
        "positive",
        "the bare exponential; Zhang et al., 2024, arXiv:2402.04347, have exp(t x), section 3.2, and exp(W x + b), (3)",
        "sum_d exp(q_d + k_d)",
        lambda q, k: channels(np.exp(q + k)),
    ),
    FeatureMap(
        "sin_cos",
        sin_cos,
        lambda K: 2 * K,
        "signed",
        "Peng et al., 2021, arXiv:2103.02143, (2), without projection and factor; order as there and in their code",
        "sum_d cos(q_d - k_d)",
        lambda q, k: channels(np.cos(q - k)),
    ),
    FeatureMap(
        "one_sin_cos",
        one_sin_cos,
        lambda K: 3 * K,
        "non-negative",
        "fast-transformers' SmoothedRandomFourierFeatures adds one constant to the kernel, here K of them",
        "sum_d 1 + cos(q_d - k_d)",
        lambda q, k: channels(1 + np.cos(q - k)),
    ),
    FeatureMap(
        "dpfp",
        dpfp,
        lambda K, nu: 2 * K * nu,
        "non-negative",
        "Schlag, Irie, Schmidhuber, 2021, arXiv:2102.11174, equation (37), listing 1",
        parameters=("nu",),
    ),
    FeatureMap(
        "dpfp_mirrored",
        dpfp_mirrored,
        lambda K, nu: 2 * K * nu,
        "non-negative",
        "fla's DPFPFeatureMap up to version 0.5.2",
        parameters=("nu",),
    ),
)
