"""Scale, decay and writing strength taken for something else, or from somewhere else."""

import numpy as np

from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.record import (
    Mistake,
    with_final_state,
    with_inputs,
)

LN_2 = float(np.log(2))


SCALE = (
    Mistake(
        "scale-missing", "scale", "The scale is not applied.", with_inputs(scale=lambda x, c: 0 * x + 1), ("scale",)
    ),
    Mistake("scale-twice", "scale", "The scale is applied twice.", with_inputs(scale=lambda x, c: x * x), ("scale",)),
    Mistake(
        "scale-root", "scale", "The root of the scale is applied.", with_inputs(scale=lambda x, c: x**0.5), ("scale",)
    ),
    Mistake(
        "scale-inverted",
        "scale",
        "The scale divides instead of multiplying.",
        with_inputs(scale=lambda x, c: 1 / x),
        ("scale",),
    ),
    Mistake(
        "scale-of-values",
        "scale",
        "The scale is V^-1/2 instead of K^-1/2.",
        with_inputs(scale=lambda x, c: x * (c.inputs["k"].shape[-1] / c.inputs["v"].shape[-1]) ** 0.5),
        ("scale",),
    ),
    Mistake(
        "scale-on-key",
        "scale",
        "The scale multiplies the key and so enters the state.",
        with_inputs(k=lambda x, c: x * c.inputs["scale"], scale=lambda x, c: 0 * x + 1),
        ("scale", "matrix state"),
    ),
    Mistake(
        "scale-on-final-state",
        "scale",
        "The returned state is scaled.",
        with_final_state(lambda x, c: x * c.inputs["scale"]),
        ("scale", "matrix state"),
    ),
)

GATE = (
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
        with_inputs(log_decay=lambda x, c: np.where(np.isfinite(x), x - shifted(np.maximum(x, -1e4), 1), x)),
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

BETA = (
    Mistake("beta-ignored", "beta", "beta is ignored.", with_inputs(beta=lambda x, c: 0 * x + 1), ("beta",)),
    Mistake("beta-twice", "beta", "beta is applied twice.", with_inputs(beta=lambda x, c: x * x), ("beta",)),
    Mistake(
        "beta-clamped-at-1",
        "beta",
        "beta above 1 is clamped.",
        with_inputs(beta=lambda x, c: np.minimum(x, 1)),
        ("beta",),
    ),
    Mistake(
        "beta-through-a-sigmoid",
        "beta",
        "A sigmoid is applied to beta, which has been through one.",
        with_inputs(beta=lambda x, c: 1 / (1 + np.exp(-x))),
        ("beta",),
    ),
    Mistake(
        "beta-of-the-first-head",
        "beta",
        "All heads write with the beta of the first one.",
        with_inputs(beta=lambda x, c: first_of(x, 1)),
        ("beta",),
    ),
    Mistake(
        "beta-of-the-token-before",
        "beta",
        "Token t writes with the beta of t - 1.",
        with_inputs(beta=lambda x, c: shifted(x, 1)),
        ("beta",),
    ),
)

GATES = SCALE + GATE + BETA
