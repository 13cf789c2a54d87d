"""Chunks: what is handed from one to the next."""

from typing import Any

import numpy as np

from linattn.algebra import decays, transpose
from linattn_spec.mistakes.record import (
    CHUNK,
    Array,
    Call,
    Mistake,
    piece,
    with_chunks,
)


def state_not_carried(call: Call, windows: list[slice]) -> Any:
    state, outputs = call.state, []
    for window in windows:
        state, output = piece(call, window, call.state)
        outputs.append(output)
    return state, outputs


def chunk_weights(call: Call, window: slice) -> tuple[Array, Array]:
    """The decay since the start of a chunk and until its end, (B, H, C, K or 1)."""
    gate = call.inputs["log_decay"]
    tokens = call.inputs["k"][:, :, window].shape[2]
    gate = gate[:, :, window] if gate.ndim == 4 else np.repeat(gate[None, ..., None, :], tokens, axis=-2)
    _, since_start, until_end = decays(gate)
    return since_start, until_end


def linear_chunks(output: Any, state: Any) -> Any:
    """Chunks of a decaying sum of outer products with another ``output`` or ``state`` of a chunk."""

    def fold(call: Call, windows: list[slice]) -> Any:
        S, outputs = call.state[0], []
        for window in windows:
            (after,), o = piece(call, window, (S,))
            outputs.append(o if output is None else output(call, window, S, o))
            S = after if state is None else state(call, window, S, after)
        return (S,), outputs

    return with_chunks(fold)


def inside(call: Call, window: slice, S: Array) -> Array:
    """What a chunk reads of its own writes."""
    return piece(call, window, (0 * S,))[1]


def from_before(call: Call, window: slice, S: Array, since_start: Array) -> Array:
    return call.inputs["scale"] * ((since_start * call.inputs["q"][:, :, window]) @ S)


def before_not_decayed(call: Call, window: slice, S: Array, o: Array) -> Array:
    return inside(call, window, S) + from_before(call, window, S, np.ones_like(S[..., :1, :1]))


def before_decayed_exclusively(call: Call, window: slice, S: Array, o: Array) -> Array:
    since_start, _ = chunk_weights(call, window)
    late = np.concatenate([np.ones_like(since_start[:, :, :1]), since_start[:, :, :-1]], axis=2)
    return inside(call, window, S) + from_before(call, window, S, late)


def carry_not_decayed(call: Call, window: slice, S: Array, after: Array) -> Array:
    since_start, _ = chunk_weights(call, window)
    return after + (1 - since_start[:, :, -1, :, None]) * S


def writes_not_decayed(call: Call, window: slice, S: Array, after: Array) -> Array:
    since_start, _ = chunk_weights(call, window)
    k, v = call.inputs["k"][:, :, window], call.inputs["v"][:, :, window]
    return since_start[:, :, -1, :, None] * S + transpose(k) @ v


def border_token_twice(call: Call, window: slice, S: Array, after: Array) -> Array:
    k, v = call.inputs["k"][:, :, window], call.inputs["v"][:, :, window]
    return after + transpose(k[:, :, -1:]) @ v[:, :, -1:]


def border_token_lost(call: Call, window: slice, S: Array, after: Array) -> Array:
    k, v = call.inputs["k"][:, :, window], call.inputs["v"][:, :, window]
    return after - transpose(k[:, :, -1:]) @ v[:, :, -1:]


def padded_tail_decays(call: Call, window: slice, S: Array, after: Array) -> Array:
    gate = call.inputs["log_decay"]
    last = gate[:, :, window][:, :, -1] if gate.ndim == 4 else gate
    missing = CHUNK - call.inputs["k"][:, :, window].shape[2]
    return np.exp(last * missing if missing else 0 * np.maximum(last, -1))[..., :, None] * after


LINEAR, WHERE = ("log_decay", "matrix state"), ("chunkwise",)
FAMILY_A = (*LINEAR, "no beta")

CHUNKS = (
    Mistake(
        "chunk-state-not-carried",
        "chunk",
        "Every chunk starts from the incoming state.",
        with_chunks(state_not_carried),
        ("fixed state",),
        WHERE,
    ),
    Mistake(
        "chunk-before-missing",
        "chunk",
        "Outputs lack what came before the chunk.",
        linear_chunks(lambda c, w, S, o: inside(c, w, S), None),
        ("matrix state",),
        WHERE,
    ),
    Mistake(
        "chunk-inside-missing",
        "chunk",
        "Outputs lack what the chunk itself wrote.",
        linear_chunks(lambda c, w, S, o: o - inside(c, w, S), None),
        ("matrix state",),
        WHERE,
    ),
    Mistake(
        "chunk-before-not-decayed",
        "chunk",
        "What came before the chunk is read without its decay.",
        linear_chunks(before_not_decayed, None),
        FAMILY_A,
        WHERE,
    ),
    Mistake(
        "chunk-before-decayed-exclusively",
        "chunk",
        "What came before is read with the decay of the token before.",
        linear_chunks(before_decayed_exclusively, None),
        (*FAMILY_A, "read inclusive"),
        WHERE,
    ),
    Mistake(
        "chunk-carry-not-decayed",
        "chunk",
        "The state passes a chunk without its decay.",
        linear_chunks(None, carry_not_decayed),
        FAMILY_A,
        WHERE,
    ),
    Mistake(
        "chunk-writes-not-decayed",
        "chunk",
        "What a chunk writes does not decay until its end.",
        linear_chunks(None, writes_not_decayed),
        FAMILY_A,
        WHERE,
    ),
    Mistake(
        "chunk-border-token-twice",
        "chunk",
        "The last token of a chunk is written twice.",
        linear_chunks(None, border_token_twice),
        ("matrix state", "no beta"),
        WHERE,
    ),
    Mistake(
        "chunk-border-token-lost",
        "chunk",
        "The last token of a chunk is not handed on.",
        linear_chunks(None, border_token_lost),
        ("matrix state", "no beta"),
        WHERE,
    ),
    Mistake(
        "chunk-tail-decays-on",
        "ragged end",
        "The padding of the last chunk decays the state.",
        linear_chunks(None, padded_tail_decays),
        LINEAR,
        WHERE,
        seen_in=("https://github.com/tile-ai/tilelang-ascend/pull/855",),
    ),
)
