"""Means with exponential weights: which weight a token has for itself, for later ones, and over what it is one."""

from dataclasses import replace
from typing import Any

import numpy as np

from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_inputs, with_step

RWKV4 = ("rwkv4",)


def largest(x: Array) -> Array:
    return x.max(axis=-1, keepdims=True)


def log_sum(x: Array) -> Array:
    return largest(x) + np.log(np.exp(x - largest(x)).sum(axis=-1, keepdims=True))


def clamped(call: Call) -> Results:
    name = next(name for name in ("log_input", "s", "i", "k") if name in call.inputs)
    return right(replace(call, inputs={**call.inputs, name: np.minimum(call.inputs[name], 30)}))


def bonus_kept(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    _, output = step(*state, **token)
    after, _ = step(*state, **{**token, "k": token["k"] + token["u"]})
    return after, output


def after_its_write(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    N, D, _ = after
    return after, N / D


def after_its_write_and_again(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, step(*after, **token)[1]


def decayed_before_the_read(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    N, D, m = state
    return after, step(N, D, m + token["log_decay"], **token)[1]


def past_alone(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    N, D, _ = state
    return after, N / D


def not_divided(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """LightNet without its sums: what is kept is not the share of the past."""
    S, _, m = state
    after, _ = step(*state, **token)
    top = np.maximum(m, token["k"])
    S = np.exp(m - top)[..., :, None] * S + np.exp(token["k"] - top)[..., :, None] * token["v"][..., None, :]
    return (S, *after[1:]), token["scale"] * (token["q"][..., None, :] @ S)[..., 0, :]


def total_not_handed_in(call: Call) -> Results:
    state = tuple(0 * x if item.name == "n" else x for x, item in zip(call.state, call.variant.state, strict=True))
    return right(replace(call, state=state))


EXPONENTIAL_WEIGHTS = (
    Mistake("bonus-in-the-state", "own token", "The bonus is kept for later tokens.", with_step(bonus_kept), RWKV4),
    Mistake(
        "bonus-left-out",
        "own token",
        "A token reads its own write, without the bonus.",
        with_step(after_its_write),
        RWKV4,
    ),
    Mistake(
        "bonus-beside-the-own-write",
        "own token",
        "A token reads its own write, and itself with its bonus.",
        with_step(after_its_write_and_again),
        RWKV4,
    ),
    Mistake(
        "past-decayed-before-the-read",
        "order",
        "The past decays before a token reads it.",
        with_step(decayed_before_the_read),
        RWKV4,
    ),
    Mistake("past-read-alone", "own token", "A token reads what is before it alone.", with_step(past_alone), RWKV4),
    Mistake(
        "log-weights-clamped",
        "stabiliser",
        "Log weights are clamped at 30, to keep their exponentials in range.",
        clamped,
        ("m",),
    ),
    Mistake(
        "keys-less-their-largest-channel",
        "features",
        "The largest channel is subtracted from every key, which does not cancel.",
        with_inputs(k=lambda x, c: x - largest(x)),
        ("exp_linear_attention",),
    ),
    Mistake(
        "key-softmax-over-channels",
        "features",
        "The softmax of the keys is over channels, then over tokens.",
        with_inputs(k=lambda x, c: x - log_sum(x)),
        ("lightnet",),
    ),
    Mistake(
        "slot-softmax-over-slots",
        "features",
        "The softmax of the scores is over slots, then over tokens.",
        with_inputs(s=lambda x, c: x - log_sum(x)),
        ("abc",),
    ),
    Mistake(
        "sums-not-divided",
        "normaliser",
        "The sums of exponential weights are not divided.",
        with_step(not_divided),
        ("lightnet",),
    ),
    Mistake(
        "total-weight-not-handed-in",
        "state in",
        "The total weight that is handed over is not read: the first token replaces the mean.",
        total_not_handed_in,
        ("n", "k", "m"),
        seen_by=("golden", "split"),
    ),
)
