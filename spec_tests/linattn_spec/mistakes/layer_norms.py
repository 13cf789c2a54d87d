"""The gradient by which TTT trains: half the squared error of a layer norm, at the weights of the mini-batch."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import dot, outer, read
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

NEEDS = ("G", "h", "eta", "rho", "start")


def mean(x: Array) -> Array:
    return x.sum(axis=-1, keepdims=True) / x.shape[-1]


def normal_of(y: Array, eps: Array) -> tuple[Array, Array]:
    """Normalised, and the deviation."""
    centred = y - mean(y)
    deviation = np.sqrt(mean(centred * centred) + eps)
    return centred / deviation, deviation


def gradient(y: Array, t: dict[str, Array], slope: Any = None, projected: Any = None, norm: Any = normal_of) -> Array:
    """Of half the squared error of the layer norm of y, with another slope of the loss or another projection."""
    normal, deviation = norm(y, t["eps"])
    g = t["gamma"] * (t["gamma"] * normal + t["beta"] - t["v"]) if slope is None else slope(normal, t)
    return (g - mean(g) - normal * mean(normal * g) if projected is None else projected(g, normal)) / deviation


def trained(error: Callable[..., Array]) -> Callable[[Call], Results]:
    """Another gradient: ``error(W, b, G, h, token)``, at the weights of the mini-batch and what it has collected."""

    def changed(step: Any, state: tuple, t: dict[str, Array]) -> Any:
        (W, b, G, h, rho), o = step(*state, **{**t, "eta": 0 * t["eta"]})
        u = t["eta"] * error(W, b, G, h, t)
        return (W, b, G + outer(t["k"], u), h + u, rho), o - rho * (dot(t["q"], t["k"]) + 1) * u

    return with_step(changed)


def usual(**parts: Any) -> Callable[[Call], Results]:
    """The gradient at the start of the mini-batch, with other parts."""
    return trained(lambda W, b, G, h, t: gradient(read(t["k"], W) + b, t, **parts))


def with_deviation(deviation: Callable[[Array, Array], Array]) -> Callable[[Call], Results]:
    def norm(y: Array, eps: Array) -> tuple[Array, Array]:
        centred = y - mean(y)
        size = deviation(centred, eps)
        return centred / size, size

    return usual(norm=norm)


def ttt(identity: str, sentence: str, wrong: Callable[[Call], Results], *seen_in: str) -> Mistake:
    return Mistake(identity, "mini batch", sentence, wrong, NEEDS, ("recurrent",), seen_in=seen_in)


LAYER_NORMS = (
    ttt(
        "norm-gradient-not-projected",
        "The gradient of the layer norm lacks its projections.",
        usual(projected=lambda g, n: g),
    ),
    ttt(
        "norm-gradient-not-centred",
        "The gradient of the layer norm is not centred.",
        usual(projected=lambda g, n: g - n * mean(n * g)),
    ),
    ttt(
        "norm-gradient-not-orthogonal",
        "The gradient of the layer norm keeps what is along its input.",
        usual(projected=lambda g, n: g - mean(g)),
    ),
    ttt(
        "norm-gradient-of-the-prediction",
        "The error is that of the prediction before its norm.",
        trained(lambda W, b, G, h, t: read(t["k"], W) + b - t["v"]),
    ),
    ttt(
        "norm-weight-once",
        "The gradient has the weight of the norm once.",
        usual(slope=lambda n, t: t["gamma"] * n + t["beta"] - t["v"]),
    ),
    ttt("norm-weight-missing", "The layer norm has no weight.", with_inputs(gamma=lambda x, c: 0 * x + 1)),
    ttt("norm-bias-missing", "The layer norm has no bias.", with_inputs(beta=lambda x, c: 0 * x)),
    ttt(
        "norm-not-centred",
        "The norm does not subtract the mean.",
        usual(norm=lambda y, eps: (y / np.sqrt(mean(y * y) + eps), np.sqrt(mean(y * y) + eps))),
    ),
    ttt(
        "norm-eps-beside-the-root",
        "eps is added to the deviation.",
        with_deviation(lambda x, eps: np.sqrt(mean(x * x)) + eps),
    ),
    ttt(
        "norm-by-one-channel-less",
        "The variance is divided by V - 1.",
        with_deviation(lambda x, eps: np.sqrt((x * x).sum(axis=-1, keepdims=True) / max(1, x.shape[-1] - 1) + eps)),
    ),
)
