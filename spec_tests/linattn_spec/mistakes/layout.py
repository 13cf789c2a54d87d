"""Layouts mixed up: the order of axes in memory, and the rows of the state."""

import numpy as np

from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    with_final_state,
    with_inputs,
    with_output,
    with_state,
)


def untransposed(x: Array, call: Call) -> Array:
    """(B, T, H, ...) taken for (B, H, T, ...): the memory read in the wrong order."""
    return np.ascontiguousarray(x.swapaxes(1, 2)).reshape(x.shape)


def heads_before_entries(x: Array, call: Call) -> Array:
    return np.ascontiguousarray(x.swapaxes(0, 1)).reshape(x.shape)


def transposed(x: Array, call: Call) -> Array:
    if x.ndim < 4:
        raise ValueError("a vector has no rows")
    return x.swapaxes(-1, -2) if x.shape[-1] == x.shape[-2] else x


LAYOUT = (
    Mistake(
        "tokens-taken-for-heads",
        "layout",
        "(B, T, H, D) is read as (B, H, T, D).",
        with_inputs(q=untransposed, k=untransposed, v=untransposed),
        seen_in=("https://github.com/fla-org/flash-linear-attention/issues/547",),
    ),
    Mistake(
        "queries-taken-for-heads",
        "layout",
        "Only q is read as (B, H, T, D) from (B, T, H, D).",
        with_inputs(q=untransposed),
    ),
    Mistake(
        "keys-taken-for-heads",
        "layout",
        "Only k is read as (B, H, T, D) from (B, T, H, D).",
        with_inputs(k=untransposed),
    ),
    Mistake(
        "gates-taken-for-heads",
        "layout",
        "Gates are read as (B, H, T) from (B, T, H).",
        with_inputs(log_decay=untransposed),
        ("log_decay per token",),
    ),
    Mistake(
        "beta-taken-for-heads",
        "layout",
        "beta is read as (B, H, T) from (B, T, H).",
        with_inputs(beta=untransposed),
        ("beta per token",),
    ),
    Mistake(
        "outputs-taken-for-heads",
        "layout",
        "Outputs are written as (B, H, T, D) where (B, T, H, D) is read.",
        with_output(untransposed),
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
        ("k per channel",),
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
        seen_in=("https://github.com/ROCm/aiter/pull/4057",),
    ),
    Mistake(
        "state-transposed-out",
        "state layout",
        "The final state is returned as (V, K).",
        with_final_state(transposed),
        ("matrix state",),
    ),
    Mistake(
        "outputs-reversed", "layout", "The outputs come in reversed time.", with_output(lambda x, c: x[:, :, ::-1])
    ),
    Mistake(
        "state-of-the-other-order-in",
        "state layout",
        "The incoming state is read as (H, B, ...) from (B, H, ...).",
        with_state(heads_before_entries),
        ("fixed state",),
    ),
)
