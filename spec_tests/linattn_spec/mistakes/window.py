"""The window of the short convolution: what is read of it, and what is left for the next call."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import transpose
from linattn_spec.mistakes.moved import first_of, next_of
from linattn_spec.mistakes.record import (
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

NEEDS = ("window",)
MULTIPLE = 8  # to which sequences are padded


def tokens_of(call: Call) -> int:
    return int(call.inputs["x"].shape[2])


def last_of(call: Call, *sequences: Array) -> Array:
    """A window after the incoming one and these sequences (B, H, T, D)."""
    seen = np.concatenate([call.state[0], *(transpose(x) for x in sequences)], axis=-1)
    return seen[..., -call.state[0].shape[-1] :]


def if_short(change: Callable[[Array, Call], Array]) -> Callable[[Array, Call], Array]:
    """Sequences shorter than the W - 1 inputs that the next token will read go another way."""
    return lambda window, call: change(window, call) if tokens_of(call) < window.shape[-1] - 1 else window


def older_lost(window: Array, call: Call) -> Array:
    place = np.arange(window.shape[-1])
    return np.where(place < window.shape[-1] - tokens_of(call), 0, window)


def not_moved(window: Array, call: Call) -> Array:
    """The new inputs are written over the oldest ones."""
    return np.concatenate([transpose(call.inputs["x"]), call.state[0][..., tokens_of(call) :]], axis=-1)


def of_outputs(call: Call) -> Results:
    results = right(call)
    return {**results, "final_state/window": last_of(call, results["output"])}


def of_the_padded_sequence(window: Array, call: Call) -> Array:
    x = call.inputs["x"]
    return last_of(call, x, np.zeros_like(x[:, :, :1]).repeat(-tokens_of(call) % MULTIPLE, axis=2))


def fresh_in_every_chunk(call: Call, windows: list[slice]) -> Any:
    state, outputs = call.state, []
    for window in windows:
        state, output = piece(call, window, state if window.start == 0 else tuple(0 * x for x in state))
        outputs.append(output)
    return state, outputs


def mistake_of_the_window(
    identity: str,
    kind: str,
    sentence: str,
    wrong: Callable[[Call], Results],
    seen_in: tuple[str, ...] = (),
    seen_by: tuple[str, ...] = ("golden",),
    forms: tuple[str, ...] = ("recurrent", "chunkwise", "parallel"),
) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, NEEDS, forms, seen_in=seen_in, seen_by=seen_by)


READ = (
    mistake_of_the_window(
        "window-ignored",
        "state in",
        "The convolution starts from zeros: its incoming window is ignored.",
        with_state(lambda x, c: 0 * x),
        seen_by=("golden", "split"),
    ),
    mistake_of_the_window(
        "window-a-token-late",
        "state in",
        "The first W - 1 columns of the incoming window are read, not the last ones.",
        with_state(lambda x, c: np.concatenate([x[..., :1], x[..., :-1]], axis=-1)),
        ("https://github.com/sgl-project/sglang/issues/38622",),
        ("golden", "split"),
    ),
    mistake_of_the_window(
        "window-reversed",
        "state in",
        "The incoming window is read newest first.",
        with_state(lambda x, c: x[..., ::-1]),
        seen_by=("golden", "split"),
    ),
    mistake_of_the_window(
        "window-of-the-first-entry",
        "state in",
        "All batch entries have the window of the first one.",
        with_state(lambda x, c: first_of(x, 0)),
    ),
    mistake_of_the_window(
        "window-of-the-next-entry",
        "state in",
        "Every batch entry starts from the window of the next one.",
        with_state(lambda x, c: next_of(x, 0)),
    ),
    mistake_of_the_window(
        "window-of-the-first-head",
        "state in",
        "All heads have the window of the first one.",
        with_state(lambda x, c: first_of(x, 1)),
    ),
    mistake_of_the_window(
        "window-lost-between-chunks",
        "chunk",
        "Every chunk of the convolution but the first starts from zeros.",
        with_chunks(fresh_in_every_chunk),
        forms=("chunkwise",),
    ),
)

LEFT = (
    mistake_of_the_window(
        "window-not-stored",
        "state out",
        "The incoming window is returned.",
        with_final_state(lambda x, c: c.state[0]),
        seen_by=("golden", "split"),
    ),
    mistake_of_the_window(
        "window-of-a-short-sequence-not-stored",
        "ragged end",
        "A sequence shorter than the window leaves the incoming one.",
        with_final_state(if_short(lambda x, c: c.state[0])),
        ("https://github.com/vllm-project/vllm/pull/56196",),
    ),
    mistake_of_the_window(
        "window-of-a-short-sequence-alone",
        "ragged end",
        "A sequence shorter than the window leaves zeros where older inputs belong.",
        with_final_state(if_short(older_lost)),
    ),
    mistake_of_the_window(
        "window-of-a-short-sequence-not-moved",
        "ragged end",
        "A sequence shorter than the window is written over its oldest inputs.",
        with_final_state(if_short(not_moved)),
    ),
    mistake_of_the_window(
        "window-of-the-padded-sequence",
        "ragged end",
        "The window is taken at the end of a sequence that is padded to a multiple of 8.",
        with_final_state(of_the_padded_sequence),
        ("https://github.com/huggingface/transformers/issues/48256",),
        ("golden", "split"),
    ),
    mistake_of_the_window(
        "window-of-outputs",
        "state out",
        "The window is filled with outputs of the convolution in place of its inputs.",
        of_outputs,
        ("https://github.com/state-spaces/mamba/pull/1027",),
        ("golden", "split"),
    ),
    mistake_of_the_window(
        "window-returned-reversed",
        "state out",
        "The window is returned newest first.",
        with_final_state(lambda x, c: x[..., ::-1]),
        seen_by=("golden", "split"),
    ),
)

WINDOW = READ + LEFT
