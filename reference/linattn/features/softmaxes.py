"""Feature maps that are a softmax: over the channels of a token, in the readings of Hedgehog, and over the tokens.

Hedgehog's map is learned, [W x + b, -W x - b] and then a function: exp in the paper, whose appendix A.1 also offers a
softmax, of W x alone. It does not say how that joins the negated half, and libraries disagree. W x + b is taken as x.
"""

from typing import Any

import numpy as np

from linattn.algebra import largest, transpose
from linattn.features.feature_map import FeatureMap
from linattn.features.kernels import inner_product

Array = Any


def softmax(x: Array) -> Array:
    weights = np.exp(x - largest(x))
    return weights / weights.sum(axis=-1, keepdims=True)


def hedgehog_joint(x: Array) -> Array:
    """One softmax over [2x, -2x]. The 2 is fla's: the paper has it only in exp(2x), a map without W (section 3.2)."""
    return softmax(np.concatenate([2 * x, -2 * x], axis=-1))


def hedgehog_split(x: Array) -> Array:
    """Two softmaxes, over x and over -x. lolcats clamps both at 1e-12."""
    return np.concatenate([softmax(x), softmax(-x)], axis=-1)


def hedgehog_exp(x: Array) -> Array:
    """[exp x, exp -x]. lolcats shifts each half by its maximum: that cancels on neither side.

    On q it weighs one half against the other, on k also token against token.
    """
    return np.concatenate([np.exp(x), np.exp(-x)], axis=-1)


def softmax_over_tokens(x: Array) -> Array:
    """Every channel of (..., T, K) by itself, over all tokens: not causal. Its queries have a softmax of channels."""
    return transpose(softmax(transpose(x)))


MAPS = (
    FeatureMap(
        "hedgehog_joint",
        hedgehog_joint,
        lambda K: 2 * K,
        "positive",
        "Zhang et al., 2024, arXiv:2402.04347, appendix A.1, as in fla's HedgehogFeatureMap",
    ),
    FeatureMap(
        "hedgehog_split",
        hedgehog_split,
        lambda K: 2 * K,
        "positive",
        "the same, as in lolcats' SoftmaxDim",
    ),
    FeatureMap(
        "hedgehog_exp",
        hedgehog_exp,
        lambda K: 2 * K,
        "positive",
        "the same, the code of appendix A.2; lolcats' Exp without its shift",
        "2 sum_d cosh(q_d + k_d)",
        lambda q, k: inner_product(np.exp(q), np.exp(k)) + inner_product(np.exp(-q), np.exp(-k)),
    ),
    FeatureMap(
        "softmax_over_tokens",
        softmax_over_tokens,
        lambda K: K,
        "positive",
        "the keys of efficient attention, as in the code of Shen et al., 2018, arXiv:1812.01243; bidirectional",
        causal=False,
    ),
)
