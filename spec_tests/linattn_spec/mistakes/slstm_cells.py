"""The cell of sLSTM: its gates, which see its output, and its normaliser."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.mistakes.inside import sigmoid, softplus
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

SLSTM, WHERE = ("slstm",), ("recurrent",)
EXCHANGED = ("https://github.com/NX-AI/xlstm/issues/98",)


def cell(change: Callable[[tuple, tuple, dict[str, Array]], tuple[tuple, Array]]) -> Callable[[Call], Results]:
    """Another state and output: ``change(state, after, token)``. The last output is part of the state."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        after, _ = step(*state, **token)
        (c, n, m), h = change(state, after[:3], token)
        return (c, n, m, h), h

    return with_step(changed)


def gate(name: str, state: tuple, token: dict[str, Array]) -> Array:
    """Before its function."""
    return token[name] + (state[3][..., None, :] @ token[f"R_{name}"])[..., 0, :]


def divided(state: tuple, after: tuple, token: dict[str, Array]) -> Array:
    return sigmoid(gate("o", state, token)) * after[0] / after[1]


def normaliser_not_written(state: tuple, after: tuple, token: dict[str, Array]) -> Any:
    c, n, m = after
    after = c, n - np.exp(gate("i", state, token) - m), m
    return after, divided(state, after, token)


def normaliser_not_decayed(state: tuple, after: tuple, token: dict[str, Array]) -> Any:
    c, n, m = after
    after = c, n + np.exp(state[2] - m) * -np.expm1(-softplus(-gate("f", state, token))) * state[1], m
    return after, divided(state, after, token)


def exchanged(first: str, second: str) -> Callable[[Call], Results]:
    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        return step(*state, **{**token, first: token[second], second: token[first]})

    return with_step(changed)


def recurrent_inputs(change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    return with_inputs(**dict.fromkeys(("R_z", "R_i", "R_f", "R_o"), change))


SLSTM_CELLS = (
    Mistake(
        "slstm-normaliser-not-written",
        "normaliser",
        "The normaliser decays, and nothing is added to it.",
        cell(normaliser_not_written),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-normaliser-not-decayed",
        "normaliser",
        "The normaliser does not decay.",
        cell(normaliser_not_decayed),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-not-divided",
        "normaliser",
        "The cell is not divided by its normaliser.",
        cell(lambda state, after, token: (after, sigmoid(gate("o", state, token)) * after[0])),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-output-gate-missing",
        "gate",
        "The output gate is missing.",
        cell(lambda state, after, token: (after, after[0] / after[1])),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-output-through-tanh",
        "features",
        "The cell goes through tanh, as that of an LSTM.",
        cell(lambda state, after, token: (after, sigmoid(gate("o", state, token)) * np.tanh(after[0] / after[1]))),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-input-and-forget-exchanged",
        "gate",
        "Input and forget gate are exchanged.",
        exchanged("i", "f"),
        SLSTM,
        WHERE,
        seen_in=EXCHANGED,
    ),
    Mistake(
        "slstm-recurrent-weights-exchanged",
        "gate",
        "Input and forget gate see the last output by each other's weights.",
        exchanged("R_i", "R_f"),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-recurrent-weights-transposed",
        "layout",
        "The recurrent weights are transposed.",
        recurrent_inputs(lambda R, c: np.swapaxes(R, -1, -2)),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-last-output-not-seen",
        "gate",
        "The gates do not see the last output.",
        recurrent_inputs(lambda R, c: np.zeros_like(R)),
        SLSTM,
        WHERE,
    ),
    Mistake(
        "slstm-input-gate-through-a-sigmoid",
        "gate",
        "The input gate is a sigmoid, as that of an LSTM.",
        with_inputs(i=lambda i, c: -softplus(-i)),
        SLSTM,
        WHERE,
    ),
)
