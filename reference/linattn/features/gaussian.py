"""The readings of "the RBF feature map", which differ.

``rbf_scalar`` is exp(-|x|^2 / 2 sigma^2) as it is often written. It is one number, so that under a normaliser q cancels
and the output is a mean of the values that no query can influence: a degenerate case, kept to show it. It is meant as
the prefactor h(x) of the Gaussian kernel (``kernels.gaussian``), which needs infinitely many features:
``gaussian_taylor`` has them up to a degree, ``random_fourier`` has the kernel in expectation, and ``rbf_centres``
measures distances to given points instead.
"""

from typing import Any

import numpy as np

from linattn.algebra import read, transpose
from linattn.features.feature_map import FeatureMap, number
from linattn.features.kernels import exponential_series, gaussian, half_square, inner_product
from linattn.features.polynomial import series, series_width
from linattn.norms import l2_norm

Array = Any


def rbf_scalar(x: Array, sigma: Any) -> Array:
    """exp(-|x|^2 / 2 sigma^2): one feature."""
    return np.exp(-half_square(x, sigma))


def gaussian_taylor(x: Array, sigma: Any, degree: int) -> Array:
    """h(x) times the features of the exponential series of x.y / sigma^2."""
    return rbf_scalar(x, sigma) * series(x / sigma, degree)


def rbf_centres(x: Array, centres: Array, sigma: Any) -> Array:
    """exp(-|x - c|^2 / 2 sigma^2) for each of the centres (M, K)."""
    return gaussian(x[..., None, :], centres, sigma)[..., 0]


def random_fourier(x: Array, W: Array, sigma: Any) -> Array:
    """[sin(W x / sigma), cos(W x / sigma)] / sqrt(M) for a draw W (M, K) of standard normal numbers."""
    turns = read(x / sigma, transpose(W))
    return np.concatenate([np.sin(turns), np.cos(turns)], axis=-1) / np.sqrt(number(W.shape[-2], x))


def rfa(x: Array, W: Array, sigma: Any) -> Array:
    """``random_fourier`` of x / |x|; 0 gives NaN. The authors' code adds 1e-3 to |x|.

    What multiplies W in the paper's (8), a learned vector, is 1 / sigma, although it is called sigma there.
    """
    return random_fourier(l2_norm(x, 0), W, sigma)


def positive_random(x: Array, W: Array) -> Array:
    """exp(W x - |x|^2 / 2) / sqrt(M) for a draw W (M, K) of standard normal numbers.

    FAVOR+ makes the rows of W orthogonal (section 2.4) and has a stabiliser of 1e-6 by default (appendix A.3). A scale
    on q.k goes to x as its root. The exponent is at most |W|^2 / 2. fast-transformers can also subtract the largest
    |x|^2 of the sequence: that cancels only where eps is 0, and is not causal.
    """
    return np.exp(read(x, transpose(W)) - half_square(x, 1)) / np.sqrt(number(W.shape[-2], x))


def hyperbolic_random(x: Array, W: Array) -> Array:
    """The same with W and -W, over sqrt(2): half of the features are free, and the variance is less than half.

    Lemma 2 of the paper says by how much.
    """
    return np.concatenate([positive_random(x, W), positive_random(x, -W)], axis=-1) / np.sqrt(number(2, x))


def gaussian_series(q: Array, k: Array, sigma: Any, degree: int) -> Array:
    return rbf_scalar(q, sigma) * rbf_scalar(k, sigma) * exponential_series(inner_product(q / sigma, k / sigma), degree)


PERFORMERS = "Choromanski et al., 2020, arXiv:2009.14794, (5), lemma 1"
MAPS = (
    FeatureMap(
        "rbf_scalar",
        rbf_scalar,
        lambda K, sigma: 1,
        "positive",
        "the prefactor of the Gaussian kernel, taken for the whole",
        "exp(-(|q|^2 + |k|^2) / 2 sigma^2)",
        lambda q, k, sigma: np.exp(-half_square(q, sigma) - half_square(k, sigma)),
        parameters=("sigma",),
    ),
    FeatureMap(
        "rbf_centres",
        rbf_centres,
        lambda K, centres, sigma: len(centres),
        "positive",
        "a radial basis function network",
        parameters=("centres", "sigma"),
    ),
    FeatureMap(
        "gaussian_taylor",
        gaussian_taylor,
        lambda K, sigma, degree: series_width(K, degree),
        "positive",
        "the series of exp(x.y / sigma^2) in the Gaussian kernel",
        "h(q) h(k) sum_j (q.k / sigma^2)^j / j!",
        gaussian_series,
        parameters=("sigma", "degree"),
    ),
    FeatureMap(
        "random_fourier",
        random_fourier,
        lambda K, W, sigma: 2 * len(W),
        "signed",
        "Rahimi, Recht, 2007, as stated in Choromanski et al., 2020, arXiv:2009.14794, section 2.3",
        "exp(-|q - k|^2 / 2 sigma^2)",
        lambda q, k, W, sigma: gaussian(q, k, sigma),
        in_expectation=True,
        parameters=("W", "sigma"),
    ),
    FeatureMap(
        "rfa",
        rfa,
        lambda K, W, sigma: 2 * len(W),
        "signed",
        "Peng et al., 2021, arXiv:2103.02143, (2), (3), (5), section 3.3; theorem 1 has the variance of W inverted",
        "exp((cos(q, k) - 1) / sigma^2)",
        lambda q, k, W, sigma: np.exp((inner_product(l2_norm(q, 0), l2_norm(k, 0)) - 1) / (sigma * sigma)),
        in_expectation=True,
        parameters=("W", "sigma"),
    ),
    FeatureMap(
        "positive_random",
        positive_random,
        lambda K, W: len(W),
        "positive",
        f"{PERFORMERS}: SM+, the features of FAVOR+",
        "exp(q.k)",
        lambda q, k, W: np.exp(inner_product(q, k)),
        in_expectation=True,
        parameters=("W",),
    ),
    FeatureMap(
        "hyperbolic_random",
        hyperbolic_random,
        lambda K, W: 2 * len(W),
        "positive",
        f"{PERFORMERS}: SM^hyp+",
        "exp(q.k)",
        lambda q, k, W: np.exp(inner_product(q, k)),
        in_expectation=True,
        parameters=("W",),
    ),
)
