"""The hand-over of the state: what comes in, and what goes out."""

from dataclasses import replace

import numpy as np

from linattn import forms
from linattn_spec.mistakes.moved import first_of
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    piece,
    right,
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
    return {"output": results["output"]} | dict(zip(list(results)[1:], call.state, strict=True))


def decayed_once_more(x: Array, call: Call) -> Array:
    gate = call.inputs["log_decay"]
    last = gate[:, :, -1] if gate.ndim == 4 else gate
    return np.exp(last)[..., :, None] * x


def last_token_not_written(call: Call) -> Results:
    """The tail is masked one token early."""
    inputs = dict(call.inputs)
    for name in ("k", "v"):
        inputs[name] = np.concatenate([inputs[name][:, :, :-1], 0 * inputs[name][:, :, -1:]], axis=2)
    return right(replace(call, inputs=inputs))


def first_token_not_written(call: Call) -> Results:
    inputs = dict(call.inputs)
    for name in ("k", "v"):
        inputs[name] = np.concatenate([0 * inputs[name][:, :, :1], inputs[name][:, :, 1:]], axis=2)
    return right(replace(call, inputs=inputs))


def normaliser_starts_at_zero(call: Call) -> Results:
    return right(replace(call, state=(call.state[0], 0 * call.state[1])))


STATE = (
    Mistake(
        "initial-state-ignored",
        "state in",
        "The incoming state is ignored.",
        with_state(lambda x, c: 0 * x),
        ("S",),
        seen_in=("https://github.com/huggingface/transformers/pull/46741",),
    ),
    Mistake(
        "initial-state-doubled",
        "state in",
        "The incoming state is added twice.",
        with_state(lambda x, c: 2 * x),
        ("S",),
    ),
    Mistake(
        "initial-state-of-the-first-entry",
        "state in",
        "All batch entries start from the first one's state.",
        with_state(lambda x, c: first_of(x, 0)),
        ("S",),
        seen_in=("https://github.com/BlinkDL/RWKV-LM/issues/241",),
    ),
    Mistake(
        "initial-state-of-the-first-head",
        "state in",
        "All heads start from the first one's state.",
        with_state(lambda x, c: first_of(x, 1)),
        ("S",),
    ),
    Mistake(
        "normaliser-starts-at-zero",
        "state in",
        "The incoming normaliser is ignored.",
        normaliser_starts_at_zero,
        ("z",),
    ),
    Mistake("final-state-stale", "state out", "The final state lacks the last token.", last_token_not_in_state),
    Mistake("final-state-zero", "state out", "The final state is never stored.", with_final_state(lambda x, c: 0 * x)),
    Mistake("final-state-is-initial", "state out", "The incoming state is returned.", final_state_is_initial, ("S",)),
    Mistake(
        "final-state-decayed-once-more",
        "state out",
        "The returned state has decayed once too often.",
        with_final_state(decayed_once_more),
        ("log_decay", "matrix state"),
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
    ),
    Mistake("last-token-not-written", "ragged end", "The last token is masked away.", last_token_not_written),
    Mistake("first-token-not-written", "ragged end", "The first token is masked away.", first_token_not_written),
)
