"""Regression at test time: the strength of Longhorn, the momentum of Titans."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import dot, outer, read
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_inputs, with_step

STRENGTH = ("beta per value channel",)
MOMENTUM = ("R", "theta")


def with_token(change: Callable[..., Any]) -> Callable[[Call], Results]:
    """The recurrence meets another state and other inputs: ``change(state, token) -> (state, changed inputs)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        state, inputs = change(state, token)
        return step(*state, **{**token, **inputs})

    return with_step(changed)


# -- Longhorn ----------------------------------------------------------------------------------------------------------


def with_strength(ratio: Callable[[Array, Array], Array]) -> Callable[[Call], Results]:
    """The strength times ``ratio(k, beta)``: all that a token changes is in proportion to it."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (after,), _ = step(*state, **token)
        S = state[0] + ratio(token["k"], token["beta"])[..., None, :] * (after - state[0])
        return (S,), read(token["q"], S)

    return with_step(changed)


def norm(k: Array, beta: Array) -> Array:
    """That by which the right strength has been divided."""
    return 1 + beta * dot(k, k)


def erased_by_beta(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (after,), _ = step(*state, **token)
    (kept,), _ = step(*state, **{**token, "v": 0 * token["v"]})
    S = after + (norm(token["k"], token["beta"]) - 1)[..., None, :] * (kept - state[0])
    return (S,), read(token["q"], S)


def nothing_erased(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (written,), _ = step(0 * state[0], **token)
    return (state[0] + written,), read(token["q"], state[0] + written)


def exact(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    k, eps = token["k"], token["beta"] / norm(token["k"], token["beta"])
    S = state[0] + outer(k, eps * (token["v"] - read(k, state[0])))
    return (S,), read(token["q"], S)


def diagonal(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    k, eps = token["k"], token["beta"] / norm(token["k"], token["beta"])
    S = (1 - outer(k * k, eps)) * state[0] + outer(k, eps * token["v"])
    return (S,), read(token["q"], S)


def longhorn(identity: str, sentence: str, wrong: Callable[[Call], Results], *needs: str) -> Mistake:
    return Mistake(identity, "strength", sentence, wrong, STRENGTH + needs)


LONGHORN = (
    longhorn(
        "strength-not-normalised", "The strength is beta itself, not divided by 1 + beta |k|^2.", with_strength(norm)
    ),
    longhorn(
        "strength-without-beta-below",
        "The strength is beta / (1 + |k|^2).",
        with_strength(lambda k, beta: norm(k, beta) / (1 + dot(k, k))),
    ),
    longhorn(
        "strength-of-the-mean-square",
        "The strength takes the mean of k^2 for its sum.",
        with_strength(lambda k, beta: norm(k, beta) / (1 + beta * dot(k, k) / k.shape[-1])),
    ),
    longhorn(
        "strength-of-the-length",
        "The strength takes |k| for |k|^2.",
        with_strength(lambda k, beta: norm(k, beta) / (1 + beta * dot(k, k) ** 0.5)),
    ),
    longhorn(
        "strength-without-its-one",
        "The strength is 1 / |k|^2, whatever beta.",
        with_strength(lambda k, beta: norm(k, beta) / (beta * dot(k, k) + 2.0**-20)),
    ),
    longhorn("strength-on-the-write-alone", "What is erased is weighted with beta itself.", with_step(erased_by_beta)),
    longhorn("recall-not-erased", "What the key recalls is not subtracted.", with_step(nothing_erased)),
    longhorn(
        "beta-of-the-first-value-channel",
        "All value channels have the beta of the first.",
        with_inputs(beta=lambda x, c: np.repeat(x[..., :1], x.shape[-1], axis=-1)),
    ),
    longhorn("erase-by-the-diagonal", "k k^T is replaced by its diagonal.", with_step(diagonal), "longhorn"),
    longhorn(
        "erase-not-by-the-diagonal", "k k^T is not replaced by its diagonal.", with_step(exact), "longhorn_diagonal"
    ),
)

# -- Titans ------------------------------------------------------------------------------------------------------------


def momentum_not_handed_over(call: Call) -> Results:
    S, R = call.state
    return right(replace(call, state=(S, 0 * R)))


def late(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S, R), _ = step(*state, **token)
    S = S - R + state[1]
    return (S, R), read(token["q"], S)


def decayed_with_the_memory(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S, R), _ = step(*state, **token)
    S = S - (1 - np.exp(token["log_decay"]))[..., :, None] * R
    return (S, R), read(token["q"], S)


def with_value(value: Callable[..., Array]) -> Callable[[Call], Results]:
    """Another error: that of ``value(S, R, token)``."""
    return with_token(lambda state, token: (state, {"v": value(*state, token)}))


def titans(identity: str, sentence: str, wrong: Callable[[Call], Results], *seen_in: str) -> Mistake:
    return Mistake(identity, "momentum", sentence, wrong, MOMENTUM, seen_in=seen_in)


TITANS = (
    titans(
        "momentum-decayed-as-the-memory",
        "The decay of the memory is taken for that of the momentum.",
        with_inputs(log_momentum=lambda x, c: c.inputs["log_decay"]),
    ),
    titans(
        "momentum-decayed-twice",
        "The momentum decays with the memory too.",
        with_inputs(log_momentum=lambda x, c: x + c.inputs["log_decay"]),
    ),
    titans(
        "momentum-not-decayed", "The momentum does not decay.", with_inputs(log_momentum=lambda x, c: 0 * x.clip(-1))
    ),
    titans(
        "momentum-missing",
        "There is no momentum: the memory takes the gradient of the token alone.",
        with_inputs(log_momentum=lambda x, c: np.full_like(x, -np.inf)),
    ),
    titans("momentum-not-handed-over", "The momentum starts from 0.", momentum_not_handed_over),
    titans(
        "momentum-weighted-by-the-rate",
        "The learning rate weights the momentum too.",
        with_token(lambda state, token: ((state[0], token["theta"][..., None] * state[1]), {})),
    ),
    titans(
        "momentum-decays-the-write",
        "The decay of the momentum acts on the new gradient too.",
        with_inputs(theta=lambda x, c: x * np.exp(c.inputs["log_momentum"])),
    ),
    titans("momentum-a-token-late", "The memory takes the momentum of the token before.", with_step(late)),
    titans("memory-decays-the-momentum", "The decay acts on memory and momentum.", with_step(decayed_with_the_memory)),
    titans(
        "gradient-after-the-momentum",
        "The gradient is taken where the momentum leads.",
        with_value(lambda S, R, t: t["v"] - np.exp(t["log_momentum"]) * read(t["k"], R)),
    ),
    titans(
        "gradient-ascended",
        "The error grows: the sign of the gradient is wrong.",
        with_value(lambda S, R, t: 2 * read(t["k"], S) - t["v"]),
    ),
    titans(
        "gradient-without-the-memory",
        "The gradient forgets what the memory recalls.",
        with_value(lambda S, R, t: t["v"] + read(t["k"], S)),
    ),
    titans(
        "loss-without-its-half",
        "The gradient is that of the squared error, not of half.",
        with_inputs(theta=lambda x, c: 2 * x),
    ),
    titans("learning-rate-ignored", "The learning rate is taken for 1.", with_inputs(theta=lambda x, c: 0 * x + 1)),
)

RECALL = LONGHORN + TITANS
