"""The hand-over of the state: what comes in, and what goes out."""

from dataclasses import replace
from typing import Any

import numpy as np

from linattn import forms
from linattn_spec.mistakes.moved import first_of, next_of
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    has_state,
    piece,
    right,
    with_chunks,
    with_final_state,
    with_state,
)


def last_token_not_in_state(call: Call) -> Results:
    """The final state is that before the last token."""
    results, tokens = right(call), forms.length(call.variant, call.inputs)
    state, _ = piece(replace(call, form="recurrent"), slice(0, tokens - 1), call.state)
    return {"output": results["output"]} | dict(zip(list(results)[1:], state, strict=True))


def final_state_is_initial(call: Call) -> Results:
    results = right(call)
    return {"output": results["output"]} | dict(zip(list(results)[1:], has_state(call).state, strict=True))


def decayed_once_more(x: Array, call: Call) -> Array:
    gate = call.inputs["log_decay"]
    last = gate[:, :, -1] if gate.ndim == 4 else gate
    return np.exp(last)[..., :, None] * x


def normaliser_ignored(call: Call) -> Results:
    return right(replace(call, state=(call.state[0], 0 * call.state[1])))


def final_state_from_zero(call: Call) -> Results:
    zero = right(replace(call, state=tuple(0 * x for x in has_state(call).state)))
    return {**zero, "output": right(call)["output"]}


def outputs_from_zero(call: Call) -> Results:
    zero = right(replace(call, state=tuple(0 * x for x in has_state(call).state)))
    return {**right(call), "output": zero["output"]}


def state_in_every_chunk(call: Call, windows: list[slice]) -> Any:
    state, outputs = call.state, []
    for number, window in enumerate(windows):
        start = state if number == 0 else tuple(x + first for x, first in zip(state, call.state, strict=True))
        state, output = piece(call, window, start)
        outputs.append(output)
    return state, outputs


def final_state_not_written(call: Call) -> Results:
    tokens = forms.length(call.variant, call.inputs)
    masked = {name: np.where(np.arange(tokens)[:, None] < tokens - 1, call.inputs[name], 0) for name in ("k", "v")}
    return {**right(replace(call, inputs={**call.inputs, **masked})), "output": right(call)["output"]}


STATE = (
    Mistake(
        "initial-state-ignored",
        "state in",
        "The incoming state is ignored.",
        with_state(lambda x, c: 0 * x),
        ("fixed state",),
        seen_in=("https://github.com/huggingface/transformers/pull/46741",),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "initial-state-doubled",
        "state in",
        "The incoming state is added twice.",
        with_state(lambda x, c: 2 * x),
        ("fixed state",),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "initial-state-of-the-first-entry",
        "state in",
        "All batch entries start from the first one's state.",
        with_state(lambda x, c: first_of(x, 0)),
        ("fixed state",),
        seen_in=("https://github.com/BlinkDL/RWKV-LM/issues/241",),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "initial-state-of-the-first-head",
        "state in",
        "All heads start from the first one's state.",
        with_state(lambda x, c: first_of(x, 1)),
        ("fixed state",),
        seen_by=("golden", "reversal"),
    ),
    Mistake("normaliser-starts-at-zero", "state in", "The incoming normaliser is ignored.", normaliser_ignored, ("z",)),
    Mistake(
        "final-state-stale",
        "state out",
        "The final state lacks the last token.",
        last_token_not_in_state,
        seen_by=("golden", "split"),
    ),
    Mistake(
        "final-state-zero",
        "state out",
        "The final state is never stored.",
        with_final_state(lambda x, c: 0 * x),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "final-state-is-initial",
        "state out",
        "The incoming state is returned.",
        final_state_is_initial,
        ("fixed state",),
        seen_in=("https://github.com/xLLM-AI/xllm/pull/1873",),
    ),
    Mistake(
        "final-state-decayed-once-more",
        "state out",
        "The returned state has decayed once too often.",
        with_final_state(decayed_once_more),
        ("log_decay", "matrix state"),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "final-state-of-the-first-entry",
        "state out",
        "All batch entries return the first one's state.",
        with_final_state(lambda x, c: first_of(x, 0)),
    ),
    Mistake(
        "final-state-of-the-first-head",
        "state out",
        "All heads return the first one's state.",
        with_final_state(lambda x, c: first_of(x, 1)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "final-state-without-the-initial-one",
        "state out",
        "The returned state lacks what the incoming one has left in it.",
        final_state_from_zero,
        ("fixed state",),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "outputs-without-the-initial-state",
        "state in",
        "The outputs lack what the incoming state holds.",
        outputs_from_zero,
        ("fixed state",),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "initial-state-in-every-chunk",
        "state in",
        "The incoming state is added at the start of every chunk.",
        with_chunks(state_in_every_chunk),
        ("fixed state",),
        ("chunkwise",),
    ),
    Mistake(
        "initial-state-of-the-next-entry",
        "state in",
        "Every batch entry starts from the state of the next one.",
        with_state(lambda x, c: next_of(x, 0)),
        ("fixed state",),
    ),
    Mistake(
        "initial-state-of-the-next-head",
        "state in",
        "Every head starts from the state of the next one.",
        with_state(lambda x, c: next_of(x, 1)),
        ("fixed state",),
    ),
    Mistake(
        "final-state-before-the-last-write",
        "state out",
        "The returned state is that before its last write: decayed and not written.",
        final_state_not_written,
        ("log_decay", "matrix state"),
    ),
)
