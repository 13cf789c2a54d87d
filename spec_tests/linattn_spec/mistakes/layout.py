"""Layouts mixed up: the order of heads and axes, the rows of the state, and norms where there should be none."""

import numpy as np

from linattn_spec.mistakes.moved import first_of
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
