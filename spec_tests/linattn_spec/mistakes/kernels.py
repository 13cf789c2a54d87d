"""The Gaussian kernel exp(-gamma |q - k|^2), with gamma = 1 / (2 sigma^2), and its normaliser."""

from collections.abc import Callable

import numpy as np

from linattn_spec.mistakes.cache import up_to, weighted
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_all_heads, with_inputs

NEEDS = ("gamma", "keys")


def with_scores(score: Callable[[Array, Array, Array], Array]) -> Callable[[Call], Results]:
    """Other exponents: ``score(q, k, gamma)`` for every query and key, relative to the largest."""

    def wrong(call: Call) -> Results:
        scores, visible, values = scores_of(call, score)
        scores = np.where(visible, scores, -np.inf)
        return weighted(call, np.exp(scores - scores.max(axis=-1, keepdims=True)), values)

    return wrong


def scores_of(call: Call, score: Callable[[Array, Array, Array], Array]) -> tuple[Array, Array, Array]:
    full = with_all_heads(call)
    keys = np.concatenate([full.state[0], full.inputs["k"]], axis=2)[:, :, None]
    values = np.concatenate([full.state[1], full.inputs["v"]], axis=2)
    scores = score(full.inputs["q"][:, :, :, None], keys, full.inputs["gamma"])
    return scores, up_to(scores, scores.shape[3] - scores.shape[2]), values


def gaussian(q: Array, k: Array, gamma: Array) -> Array:
    return -gamma * ((q - k) ** 2).sum(axis=-1)


def not_relative(call: Call) -> Results:
    """In float32, whatever the dtype."""
    scores, visible, values = scores_of(call, gaussian)
    weights = np.where(visible, np.exp(scores.astype(np.float32)), 0).astype(scores.dtype)
    return weighted(call, weights, values)


def not_normalised(call: Call) -> Results:
    scores, visible, values = scores_of(call, gaussian)
    return {**right(call), "output": np.where(visible, np.exp(scores), 0) @ values}


def mistake_of_the_kernel(identity: str, kind: str, sentence: str, wrong: Callable[[Call], Results]) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, NEEDS)


KERNELS = (
    mistake_of_the_kernel(
        "kernel-without-its-half",
        "scale",
        "The exponent is the squared distance over sigma^2, without its 2.",
        with_inputs(gamma=lambda x, c: 2 * x),
    ),
    mistake_of_the_kernel(
        "kernel-with-sigma-not-squared",
        "scale",
        "The squared distance is divided by 2 sigma, not by 2 sigma^2.",
        with_inputs(gamma=lambda x, c: np.sqrt(x / 2)),
    ),
    mistake_of_the_kernel(
        "kernel-of-the-distance",
        "features",
        "The distance is not squared.",
        with_scores(lambda q, k, gamma: -gamma * np.sqrt(((q - k) ** 2).sum(axis=-1))),
    ),
    mistake_of_the_kernel(
        "kernel-without-the-lengths-of-keys",
        "features",
        "The lengths of the keys are left out: it is softmax attention.",
        with_scores(lambda q, k, gamma: 2 * gamma * (q * k).sum(axis=-1)),
    ),
    mistake_of_the_kernel(
        "kernel-not-relative-to-its-largest",
        "gate range",
        "The kernel is taken as it is: far from all keys it is 0 in float32, and so is the normaliser.",
        not_relative,
    ),
    mistake_of_the_kernel(
        "kernel-not-normalised", "normaliser", "The kernel is not divided by its sum.", not_normalised
    ),
)
