"""The hand-over of the state: in, out, and between chunks."""

from dataclasses import replace
from typing import Any

import numpy as np

from linattn import forms
from linattn.algebra import decays, products, transpose, unit_lower_solve
from linattn_spec.mistakes.conventions import first_of
from linattn_spec.mistakes.record import (
    CHUNK,
    Array,
    Call,
    Mistake,
    Results,
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


# -- chunks ------------------------------------------------------------------------------------------------------------


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


def delta_chunks(solve: Any = unit_lower_solve, **weights: Any) -> Any:
    """Chunks of a delta rule with another triangular solve or with weights left out: ``erase``, ``read``."""

    def fold(call: Call, windows: list[slice]) -> Any:
        S, outputs = call.state[0], []
        for window in windows:
            x = forms.take(call.variant, call.inputs, window)
            gate = x.get("log_decay", np.zeros_like(x["beta"]))
            between, since_start, until_end = decays(gate)
            q, k, beta = x["q"], x["k"], x["beta"]
            ones = np.ones_like(between)
            L = beta * np.tril(
                products(k, k, weights.get("erase", lambda w, o: w)(between, ones)), weights.get("diagonal", -1)
            )
            u = solve(L, beta * (x["v"] - (since_start * k) @ S))
            inner = np.tril(products(q, k, weights.get("read", lambda w, o: w)(between, ones)))
            outputs.append(x["scale"] * ((since_start * q) @ S + inner @ u))
            S = since_start[..., -1, :, None] * S + transpose(until_end * k) @ u
        return (S,), outputs

    return with_chunks(fold)


def first_order(L: Array, B: Array) -> Array:
    return B - L @ B


def second_order(L: Array, B: Array) -> Array:
    return B - L @ (B - L @ B)


LINEAR, DELTA, WHERE = ("log_decay", "matrix state"), ("beta",), ("chunkwise",)
FAMILY_A = (*LINEAR, "no beta")

CHUNKS = (
    Mistake(
        "chunk-state-not-carried",
        "chunk",
        "Every chunk starts from the incoming state.",
        with_chunks(state_not_carried),
        ("S",),
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
        FAMILY_A,
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
        seen_in=("https://github.com/tile-ai/tilelang-ascend/pull/1460",),
    ),
    Mistake(
        "inverse-to-first-order", "triangular", "(I + L)^-1 is taken as I - L.", delta_chunks(first_order), DELTA, WHERE
    ),
    Mistake(
        "inverse-to-second-order",
        "triangular",
        "(I + L)^-1 is taken as I - L + L^2.",
        delta_chunks(second_order),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-with-diagonal",
        "triangular",
        "The triangular system keeps its diagonal.",
        delta_chunks(lambda L, B: B - L @ B, diagonal=0),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-without-decay",
        "triangular",
        "The triangular system lacks the decays.",
        delta_chunks(erase=lambda w, ones: ones),
        ("beta", "log_decay"),
        WHERE,
    ),
    Mistake(
        "read-without-decay",
        "chunk",
        "Q K^T is masked without the decays.",
        delta_chunks(read=lambda w, ones: ones),
        ("beta", "log_decay"),
        WHERE,
        seen_in=("https://github.com/NVlabs/GatedDeltaNet/issues/14",),
    ),
)

HANDOVER = STATE + CHUNKS
