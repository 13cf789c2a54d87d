"""Rotations: which channels turn together, which way, from where, and in whose frame the state is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.rotary import rotate
from linattn_spec.mistakes.angles import negated
from linattn_spec.mistakes.named_states import states_of, with_final_states, with_states
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    piece,
    right,
    with_chunks,
    with_step,
)

Token = dict[str, Array]
Wrong = Callable[[Call], Results]


def with_turned(change: Callable[[Token, Array], dict[str, Array]]) -> Wrong:
    """Other keys or queries of a token: ``change(token, phase)``, which is turned by that phase then."""

    def changed(step: Any, state: tuple, token: Token) -> Any:
        phase = state[1] + token["angle"] if "trap" in token else state[1]
        return step(*state, **{**token, **change(token, phase)})

    return with_step(changed)


def phase_restarted(call: Call, windows: list[slice]) -> Any:
    """Every chunk turns from the incoming phase on."""
    state, outputs = call.state, []
    for window in windows:
        state, output = piece(call, window, (state[0], call.state[1], *state[2:]))
        outputs.append(output)
    return state, outputs


def order_of_halves(call: Call) -> np.ndarray:
    """The channels in which the pairs (r, r + R) are neighbours."""
    pairs, width = call.inputs["angle"].shape[-1], call.inputs["k"].shape[-1]
    return np.concatenate([np.arange(2 * pairs).reshape(2, pairs).T.ravel(), np.arange(2 * pairs, width)])


def in_halves(call: Call) -> Results:
    """Channels r and r + R turn together: everything with key channels goes to and fro in another order."""
    order, axes = order_of_halves(call), {item.name: item.axes.split() for item in call.variant.state}

    def moved(x: Array, name: str, to: np.ndarray) -> Array:
        return np.take(x, to, axis=-len(axes[name])) if "K" in axes.get(name, ()) else x

    inputs = {**call.inputs, **{name: call.inputs[name][..., order] for name in ("q", "k")}}
    state = tuple(moved(x, name, order) for name, x in states_of(call).items())
    results = right(replace(call, inputs=inputs, state=state))
    return {name: moved(x, name.split("/")[-1], np.argsort(order)) for name, x in results.items()}


def in_the_last_frame(call: Call) -> Results:
    """The rows of the final state as the last query saw them."""
    results = right(call)
    phase = results["final_state/phase"] - (0 if "trap" in call.inputs else call.inputs["angle"])
    back = rotate(results["final_state/S"].swapaxes(-1, -2), -phase[..., None, :]).swapaxes(-1, -2)
    return {**results, "final_state/S": back}


def of(identity: str, kind: str, sentence: str, wrong: Wrong, *seen_in: str, **more: Any) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, ("phase", "angle"), seen_in=seen_in, **more)


NEOX = ("https://github.com/vllm-project/vllm/pull/49323", "https://github.com/vllm-project/vllm-ascend/issues/12765")
OFFSET = (
    "https://github.com/RobertCsordas/moeut/pull/6",
    "https://github.com/lucidrains/rotary-embedding-torch/issues/11",
)

PAIRS = (
    of("pairs-of-halves", "rotation", "Channels r and r + R turn together, not neighbours.", in_halves, *NEOX),
    of(
        "queries-not-turned",
        "rotation",
        "The queries are not turned.",
        with_turned(lambda t, phase: {"q": rotate(t["q"], -phase)}),
    ),
    of(
        "keys-not-turned",
        "rotation",
        "The keys are not turned.",
        with_turned(lambda t, phase: {"k": rotate(t["k"], -phase)}),
    ),
    of(
        "keys-turned-back",
        "rotation",
        "The keys are turned the other way.",
        with_turned(lambda t, phase: {"k": rotate(t["k"], -2 * phase)}),
    ),
    of(
        "queries-turned-a-token-ahead",
        "rotation",
        "Queries are turned to the position of the next token.",
        with_turned(lambda t, phase: {"q": rotate(t["q"], t["angle"])}),
    ),
    of(
        "positions-a-token-ahead",
        "rotation",
        "Queries and keys are turned to the position of the next token.",
        with_turned(lambda t, phase: {name: rotate(t[name], t["angle"]) for name in ("q", "k")}),
    ),
)

PHASES = (
    of(
        "phase-ignored",
        "state in",
        "Positions start at 0 in every call.",
        with_states(phase=lambda x, c: 0 * x),
        *OFFSET,
        seen_by=("golden", "split"),
    ),
    of(
        "phase-not-handed-out",
        "state out",
        "The incoming phase is returned.",
        with_final_states(phase=lambda x, c: states_of(c)["phase"]),
        seen_by=("golden", "split"),
    ),
    of(
        "phase-negated-in",
        "state in",
        "The incoming phase is taken the other way round.",
        with_states(phase=negated),
    ),
    of(
        "phase-restarts-in-every-chunk",
        "chunk",
        "Every chunk starts from the incoming phase.",
        with_chunks(phase_restarted),
        forms=("chunkwise",),
    ),
    of(
        "state-in-the-frame-of-the-last-token",
        "state out",
        "The final state is turned back by the last phase: it is the state that turns.",
        in_the_last_frame,
    ),
)

ROTATIONS = PAIRS + PHASES
