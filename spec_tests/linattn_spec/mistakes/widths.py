"""Widths that are no multiple of a tile: channels lost, and numbers taken from a padded width."""

from dataclasses import replace

import numpy as np

from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_inputs, with_output

TILE = 4


def last_lost(x: Array, call: Call) -> Array:
    return np.concatenate([x[..., :-1], 0 * x[..., -1:]], axis=-1)


def beyond_tiles_lost(x: Array, call: Call) -> Array:
    whole = max(TILE, x.shape[-1] // TILE * TILE)
    return np.concatenate([x[..., :whole], 0 * x[..., whole:]], axis=-1)


def padded(width: int) -> int:
    """The next power of two."""
    return 1 << (width - 1).bit_length()


def reads_beyond(call: Call) -> Results:
    """One more channel of q and k than there are: the first of the next token."""

    def longer(x: Array) -> Array:
        return np.concatenate([x, shifted(x, -1)[..., :1]], axis=-1)

    inputs = {**call.inputs, "q": longer(call.inputs["q"]), "k": longer(call.inputs["k"])}
    gate = inputs.get("log_decay")
    if gate is not None and gate.shape[-1] > 1:
        inputs["log_decay"] = longer(np.maximum(gate, -1e4))
    (S,) = call.state
    state = (np.concatenate([S, 0 * S[..., :1, :]], axis=-2),)
    results = right(replace(call, inputs=inputs, state=state))
    return {**results, "final_state/S": results["final_state/S"][..., :-1, :]}


WIDTHS = (
    Mistake("last-key-channel-lost", "widths", "The last key channel is not read.", with_inputs(k=last_lost)),
    Mistake("last-value-channel-lost", "widths", "The last value channel is not read.", with_inputs(v=last_lost)),
    Mistake(
        "key-channels-beyond-tiles-lost",
        "widths",
        "Key channels beyond a multiple of 4 are not read.",
        with_inputs(k=beyond_tiles_lost),
    ),
    Mistake(
        "outputs-beyond-tiles-lost",
        "widths",
        "Output channels beyond a multiple of 4 are never written.",
        with_output(beyond_tiles_lost),
    ),
    Mistake(
        "reads-beyond-the-last-channel",
        "widths",
        "A channel more than there are is read from q and k: the first of the next token.",
        reads_beyond,
        ("matrix state",),
        seen_in=("https://github.com/state-spaces/mamba/issues/1024",),
    ),
    Mistake(
        "scale-of-a-padded-width",
        "scale",
        "The scale is that of K rounded up to a power of two.",
        with_inputs(scale=lambda x, c: x * (c.inputs["k"].shape[-1] / padded(c.inputs["k"].shape[-1])) ** 0.5),
        ("scale",),
    ),
)
