"""Heads mixed up."""

import numpy as np

from linattn_spec.mistakes.moved import along, first_of, next_of
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    right,
    with_all_heads,
    with_inputs,
    with_output,
)


def heads_tiled(call: Call) -> Results:
    """Head h of the many meets head h % few, not h // ratio."""
    full = with_all_heads(call, repeat=tiled)
    shared = call.state[0].shape[1]
    return {name: x if name == "output" else x[:, :shared] for name, x in right(full).items()}


def tiled(x: Array, times: int, axis: int) -> Array:
    return np.concatenate([x] * times, axis=axis)


def first_in_group(x: Array, call: Call) -> Array:
    """Of all heads that share one: the first."""
    few = min(call.inputs[name].shape[1] for name in ("q", "k", "v"))
    axis = 1 if x.ndim == 4 else 0
    return np.repeat(
        np.take(x, range(0, x.shape[axis], max(1, x.shape[axis] // few)), axis=axis), x.shape[axis] // few, axis
    )


def written_by_every_head(x: Array, call: Call) -> Array:
    return x * max(1, call.inputs["q"].shape[1] // x.shape[1])


def along_heads(x: Array, call: Call) -> Array:
    return next_of(x, 1 if x.ndim == 4 else 0)


HEADS = (
    Mistake(
        "heads-tiled",
        "heads",
        "Query head h reads key head h % groups instead of h // ratio.",
        heads_tiled,
        ("grouped heads",),
        seen_in=("https://github.com/ggml-org/llama.cpp/pull/19468",),
        seen_by=("golden", "heads"),
    ),
    Mistake(
        "queries-of-the-first-head",
        "heads",
        "All heads read with the first query.",
        with_inputs(q=along(first_of, 1)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "keys-of-the-first-head",
        "heads",
        "All heads have the key of the first one.",
        with_inputs(k=along(first_of, 1)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "values-of-the-first-head",
        "heads",
        "All heads have the value of the first one.",
        with_inputs(v=along(first_of, 1)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "queries-of-the-next-head",
        "heads",
        "Every head reads with the query of the next one.",
        with_inputs(q=along(next_of, 1)),
    ),
    Mistake(
        "outputs-of-the-next-head",
        "heads",
        "The outputs of the heads are rotated by one.",
        with_output(along(next_of, 1)),
    ),
    Mistake(
        "gates-of-the-next-head",
        "heads",
        "Every head decays by the gate of the next one.",
        with_inputs(log_decay=along_heads),
        ("log_decay",),
    ),
    Mistake(
        "queries-of-the-first-in-group",
        "heads",
        "All query heads that share a key read with the first query.",
        with_inputs(q=first_in_group),
    ),
    Mistake(
        "values-of-the-first-in-group",
        "heads",
        "All value heads that share a key have the first value.",
        with_inputs(v=first_in_group),
    ),
    Mistake(
        "gates-of-the-first-in-group",
        "heads",
        "All value heads that share a key decay by the first gate.",
        with_inputs(log_decay=first_in_group),
        ("log_decay",),
    ),
    Mistake(
        "beta-of-the-first-in-group",
        "heads",
        "All value heads that share a key write with the first beta.",
        with_inputs(beta=first_in_group),
        ("beta per token",),
    ),
    Mistake(
        "shared-state-written-by-every-head",
        "heads",
        "Every query head writes into the state that they share.",
        with_inputs(v=written_by_every_head),
    ),
)
