"""The end of a sequence that is no multiple of a chunk, and sequences of one token."""

from dataclasses import replace
from typing import Any

import numpy as np

from linattn import forms
from linattn_spec.mistakes.record import (
    CHUNK,
    Array,
    Call,
    Mistake,
    Results,
    piece,
    right,
    with_chunks,
    with_output,
)


def tokens_of(call: Call) -> int:
    return forms.length(call.variant, call.inputs)


def padded_with_the_last_token(call: Call) -> Results:
    """The rows that fill up the last chunk are read from its last token."""
    tokens, results = tokens_of(call), right(call)
    last = forms.take(call.variant, call.inputs, slice(tokens - 1, tokens))
    state = tuple(x for name, x in results.items() if name != "output")
    for _ in range(-tokens % CHUNK):
        state, _ = piece(replace(call, form="recurrent", inputs=last), slice(0, 1), state)
    return {"output": results["output"]} | dict(zip(list(results)[1:], state, strict=True))


def overlapping(call: Call, windows: list[slice]) -> Any:
    """The last chunk is a whole one: it begins before the one before it ends."""
    tokens, state, outputs = tokens_of(call), call.state, []
    for window in windows:
        missing = max(0, window.stop - tokens)
        start = max(0, window.start - missing)
        state, output = piece(call, slice(start, tokens if missing else window.stop), state)
        outputs.append(output[:, :, window.start - start :])
    return state, outputs


def state_before_the_tail(call: Call) -> Results:
    tokens, results = tokens_of(call), right(call)
    state = call.state
    if tokens >= CHUNK:
        state, _ = piece(replace(call, form="recurrent"), slice(0, tokens // CHUNK * CHUNK), state)
    return {"output": results["output"]} | dict(zip(list(results)[1:], state, strict=True))


def later_zero(x: Array, call: Call) -> Array:
    """Tokens beyond the last full chunk are never computed."""
    full = x.shape[2] // CHUNK * CHUNK
    return x if full == 0 else np.concatenate([x[:, :, :full], 0 * x[:, :, full:]], axis=2)


def tail_of_the_chunk_before(x: Array, call: Call) -> Array:
    """The buffer of the last chunk still holds the one before."""
    full = x.shape[2] // CHUNK * CHUNK
    if full == 0:
        return x
    return np.concatenate([x[:, :, :full], x[:, :, full - CHUNK : x.shape[2] - CHUNK]], axis=2)


def without_token(at: int) -> Any:
    """A token is masked away: it writes nothing."""

    def wrong(call: Call) -> Results:
        keep = np.arange(tokens_of(call))[:, None] != at % tokens_of(call)
        masked = {name: np.where(keep, call.inputs[name], 0) for name in ("k", "v")}
        return right(replace(call, inputs={**call.inputs, **masked}))

    return wrong


def alone(call: Call) -> Results:
    """A single token goes another way: it is not written."""
    masked = without_token(0)(call)
    return masked if tokens_of(call) == 1 else right(call)


RAGGED = (
    Mistake(
        "last-token-not-written",
        "ragged end",
        "The last token is masked away.",
        without_token(-1),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "first-token-not-written",
        "ragged end",
        "The first token is masked away.",
        without_token(0),
        seen_by=("golden", "split"),
    ),
    Mistake("single-token-not-written", "ragged end", "A sequence of one token writes nothing.", alone),
    Mistake(
        "tail-chunk-not-computed",
        "ragged end",
        "Tokens beyond the last full chunk of 16 are zero.",
        with_output(later_zero),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "tail-chunk-stale",
        "ragged end",
        "Tokens beyond the last full chunk of 16 have the outputs of the chunk before.",
        with_output(tail_of_the_chunk_before),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "tail-padded-with-the-last-token",
        "ragged end",
        "The rows that fill up the last chunk are written too: each is the last token once more.",
        padded_with_the_last_token,
        ("matrix state",),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "last-chunk-overlaps",
        "ragged end",
        "The last chunk is moved to the front to be whole: its first tokens are written twice.",
        with_chunks(overlapping),
        ("fixed state",),
        ("chunkwise",),
    ),
    Mistake(
        "final-state-before-the-tail",
        "ragged end",
        "The final state is that after the last full chunk of 16.",
        state_before_the_tail,
        ("fixed state",),
        seen_in=("https://github.com/vllm-project/vllm/pull/45477",),
        seen_by=("golden", "split"),
    ),
)
