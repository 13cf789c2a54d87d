"""Conventions mixed up: what a number means, in which order heads and axes come."""

import numpy as np

from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    right,
    with_all_heads,
    with_final_state,
    with_inputs,
    with_output,
    with_state,
)

LN_2 = float(np.log(2))


def shifted(x: Array, by: int) -> Array:
    """Along T: token t gets what token t - by has; the ends repeat nothing, they are 0."""
    zeros = 0 * x[:, :, : abs(by)]
    return np.concatenate([zeros, x[:, :, :-by]] if by > 0 else [x[:, :, -by:], zeros], axis=2)


def first_of(x: Array, axis: int) -> Array:
    """Everywhere along an axis what its first entry has."""
    return np.broadcast_to(np.take(x, [0], axis=axis), x.shape)


def heads_tiled(call: Call) -> Results:
    """Head h of the many meets head h % few, not h // ratio."""
    full = with_all_heads(call, repeat=tiled)
    shared = call.state[0].shape[1]
    return {name: x if name == "output" else x[:, :shared] for name, x in right(full).items()}


def tiled(x: Array, times: int, axis: int) -> Array:
    return np.concatenate([x] * times, axis=axis)


def untransposed(x: Array, call: Call) -> Array:
    """(B, T, H, D) taken for (B, H, T, D): the memory read in the wrong order."""
    return np.ascontiguousarray(x.swapaxes(1, 2)).reshape(x.shape)


def transposed(x: Array, call: Call) -> Array:
    return x.swapaxes(-1, -2) if x.shape[-1] == x.shape[-2] else x


def unit(x: Array, call: Call) -> Array:
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))


SCALE = (
    Mistake("scale-missing", "scale", "The read is not scaled.", with_inputs(scale=lambda x, c: 0 * x + 1), ("scale",)),
    Mistake("scale-twice", "scale", "The scale is applied twice.", with_inputs(scale=lambda x, c: x * x), ("scale",)),
    Mistake(
        "scale-root", "scale", "The root of the scale is applied.", with_inputs(scale=lambda x, c: x**0.5), ("scale",)
    ),
    Mistake(
        "scale-inverted", "scale", "It is divided by the scale.", with_inputs(scale=lambda x, c: 1 / x), ("scale",)
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
        "gate-kept-above-a-millionth",
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
        "All heads write like the first one.",
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

LAYOUT = (
    Mistake(
        "heads-tiled",
        "heads",
        "Query head h reads key head h % groups instead of h // ratio.",
        heads_tiled,
        seen_in=("https://github.com/ggml-org/llama.cpp/pull/19468",),
    ),
    Mistake(
        "queries-of-the-first-head",
        "heads",
        "All heads read with the first query.",
        with_inputs(q=lambda x, c: first_of(x, 1)),
    ),
    Mistake(
        "keys-of-the-first-head",
        "heads",
        "All heads have the key of the first one.",
        with_inputs(k=lambda x, c: first_of(x, 1)),
    ),
    Mistake(
        "values-of-the-first-head",
        "heads",
        "All heads have the value of the first one.",
        with_inputs(v=lambda x, c: first_of(x, 1)),
    ),
    Mistake(
        "queries-of-the-first-entry",
        "batch",
        "All batch entries have the queries of the first.",
        with_inputs(q=lambda x, c: first_of(x, 0)),
    ),
    Mistake(
        "keys-of-the-first-entry",
        "batch",
        "All batch entries have the keys of the first.",
        with_inputs(k=lambda x, c: first_of(x, 0)),
    ),
    Mistake(
        "values-of-the-first-entry",
        "batch",
        "All batch entries have the values of the first.",
        with_inputs(v=lambda x, c: first_of(x, 0)),
    ),
    Mistake(
        "tokens-taken-for-heads",
        "layout",
        "(B, T, H, D) is read as (B, H, T, D).",
        with_inputs(q=untransposed, k=untransposed, v=untransposed),
        seen_in=("https://github.com/fla-org/flash-linear-attention/issues/547",),
    ),
    Mistake(
        "values-taken-for-heads",
        "layout",
        "Only v is read as (B, H, T, D) from (B, T, H, D).",
        with_inputs(v=untransposed),
    ),
    Mistake(
        "query-and-key-swapped",
        "layout",
        "q and k are exchanged.",
        with_inputs(
            q=lambda x, c: c.inputs["k"] if c.inputs["k"].shape == x.shape else x,
            k=lambda x, c: c.inputs["q"] if c.inputs["q"].shape == x.shape else x,
        ),
    ),
    Mistake(
        "key-and-value-swapped",
        "layout",
        "k and v are exchanged where K = V hides it.",
        with_inputs(
            k=lambda x, c: c.inputs["v"] if c.inputs["v"].shape == x.shape else x,
            v=lambda x, c: c.inputs["k"] if c.inputs["k"].shape == x.shape else x,
        ),
        seen_in=("https://github.com/fla-org/flash-linear-attention/issues/623",),
    ),
    Mistake(
        "state-transposed-in",
        "state layout",
        "The incoming state is taken for (V, K).",
        with_state(transposed),
        ("matrix state",),
        seen_in=("https://github.com/ROCm/aiter/issues/4057",),
    ),
    Mistake(
        "state-transposed-out",
        "state layout",
        "The final state is returned as (V, K).",
        with_final_state(transposed),
        ("matrix state",),
    ),
    Mistake("keys-normalised", "norm", "The keys are normalised inside.", with_inputs(k=unit)),
    Mistake("queries-normalised", "norm", "The queries are normalised inside.", with_inputs(q=unit)),
    Mistake(
        "outputs-reversed", "layout", "The outputs come in reversed time.", with_output(lambda x, c: x[:, :, ::-1])
    ),
)

CONVENTIONS = SCALE + GATE + BETA + LAYOUT
