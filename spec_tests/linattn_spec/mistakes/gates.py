"""The decay taken for something else, or from somewhere else."""

from collections.abc import Callable

import numpy as np

from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.record import Array, Call, Mistake, with_inputs

LN_2 = float(np.log(2))


def without_infinity(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 0)


def at_the_first_token(times: float) -> Callable[[Array, Call], Array]:
    """The first gate acts on the incoming state alone."""
    return lambda x, call: np.concatenate([times * np.maximum(x[:, :, :1], -1e4), x[:, :, 1:]], axis=2)


GATES = (
    Mistake(
        "gate-ignored",
        "gate",
        "The decay is ignored.",
        with_inputs(log_decay=lambda x, c: 0 * np.maximum(x, -1)),
        ("log_decay",),
    ),
    Mistake(
        "gate-base-2",
        "gate",
        "The log decay is taken to base 2.",
        with_inputs(log_decay=lambda x, c: x * LN_2),
        ("log_decay",),
    ),
    Mistake(
        "gate-to-base-2-twice",
        "gate",
        "The log decay is multiplied by log2(e) and taken to base e all the same.",
        with_inputs(log_decay=lambda x, c: x / LN_2),
        ("log_decay",),
    ),
    Mistake(
        "gate-negated",
        "gate",
        "The sign of the log decay is lost: the state grows.",
        with_inputs(log_decay=lambda x, c: -without_infinity(x)),
        ("log_decay",),
    ),
    Mistake(
        "gate-exponentiated-twice",
        "gate",
        "exp(log_decay) is taken for the log decay.",
        with_inputs(log_decay=lambda x, c: np.exp(x)),
        ("log_decay",),
        seen_in=("https://github.com/flashinfer-ai/flashinfer/issues/2490",),
    ),
    Mistake(
        "gate-halved",
        "gate",
        "The root of the decay is applied.",
        with_inputs(log_decay=lambda x, c: x / 2),
        ("log_decay",),
    ),
    Mistake(
        "gate-doubled", "gate", "The decay is applied twice.", with_inputs(log_decay=lambda x, c: x * 2), ("log_decay",)
    ),
    Mistake(
        "gate-of-the-token-before",
        "gate",
        "Token t decays by the gate of token t - 1.",
        with_inputs(log_decay=lambda x, c: shifted(x, 1)),
        ("log_decay per token",),
    ),
    Mistake(
        "gate-of-the-next-token",
        "gate",
        "Token t decays by the gate of token t + 1.",
        with_inputs(log_decay=lambda x, c: shifted(x, -1)),
        ("log_decay per token", "read inclusive"),
        seen_by=("golden", "prefix"),
    ),
    Mistake(
        "first-gate-ignored",
        "gate",
        "The incoming state does not decay at the first token.",
        with_inputs(log_decay=at_the_first_token(0)),
        ("log_decay per token",),
    ),
    Mistake(
        "first-gate-twice",
        "gate",
        "The incoming state decays twice at the first token.",
        with_inputs(log_decay=at_the_first_token(2)),
        ("log_decay per token",),
    ),
    Mistake(
        "gate-constant",
        "gate",
        "All tokens decay by the gate of the first one.",
        with_inputs(log_decay=lambda x, c: first_of(x, 2)),
        ("log_decay per token",),
    ),
    Mistake(
        "gate-taken-for-cumulative",
        "gate",
        "The log decay is taken for its cumulative sum.",
        with_inputs(log_decay=lambda x, c: x - shifted(without_infinity(x), 1)),
        ("log_decay per token",),
    ),
    Mistake(
        "gate-cumulated-twice",
        "gate",
        "The cumulative sum of the log decay is cumulated again.",
        with_inputs(log_decay=lambda x, c: np.cumsum(x, axis=2)),
        ("log_decay per token",),
        seen_in=("https://github.com/fla-org/flash-linear-attention/pull/1176",),
    ),
    Mistake(
        "gate-of-the-first-channel",
        "gate",
        "All channels decay like the first one.",
        with_inputs(log_decay=lambda x, c: first_of(x, -1)),
        ("log_decay per channel",),
    ),
    Mistake(
        "gate-of-the-mean-channel",
        "gate",
        "All channels decay by the mean gate.",
        with_inputs(log_decay=lambda x, c: 0 * np.maximum(x, -1) + x.mean(axis=-1, keepdims=True)),
        ("log_decay per channel",),
    ),
    Mistake(
        "gate-of-the-first-head",
        "gate",
        "All heads decay like the first one.",
        with_inputs(log_decay=lambda x, c: first_of(x, 1 if x.ndim == 4 else 0)),
        ("log_decay",),
    ),
    Mistake(
        "gate-of-0-forgets",
        "gate range",
        "A log decay of exactly 0 is taken for no entry: everything is forgotten.",
        with_inputs(log_decay=lambda x, c: np.where(x == 0, -np.inf, x)),
        ("log_decay",),
        seen_in=("https://github.com/fla-org/flash-linear-attention/issues/104",),
        seen_by=("golden", "neutral"),
    ),
    Mistake(
        "gate-clamped-at-minus-20",
        "gate range",
        "Log decays below -20 are clamped: -inf does not forget.",
        with_inputs(log_decay=lambda x, c: np.maximum(x, -20)),
        ("log_decay",),
    ),
    Mistake(
        "gate-of-minus-infinity-ignored",
        "gate range",
        "A log decay of -inf is taken for none: nothing is forgotten.",
        with_inputs(log_decay=lambda x, c: without_infinity(x)),
        ("log_decay",),
    ),
    Mistake(
        "gate-clamped-at-minus-5",
        "gate range",
        "Log decays below -5 are clamped.",
        with_inputs(log_decay=lambda x, c: np.maximum(x, -5)),
        ("log_decay",),
    ),
    Mistake(
        "gate-clamped-at-minus-1",
        "gate range",
        "Log decays below -1 are clamped.",
        with_inputs(log_decay=lambda x, c: np.maximum(x, -1)),
        ("log_decay",),
    ),
    Mistake(
        "gate-kept-above-a-thousandth",
        "gate range",
        "A small number is added to every decay: nothing is forgotten for good.",
        with_inputs(log_decay=lambda x, c: np.log(np.exp(x) + 2.0**-10)),
        ("log_decay",),
    ),
)
