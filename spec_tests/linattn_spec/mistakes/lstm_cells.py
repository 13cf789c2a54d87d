"""The LSTM: its gates in other orders and with other activations, and its state of two tensors."""

from typing import Any

import numpy as np

from linattn.algebra import sigmoid, times
from linattn_spec.mistakes.named_states import with_states
from linattn_spec.mistakes.record import Call, Mistake, Results, right, with_inputs, with_step
from linattn_spec.mistakes.recurrent_networks import HARD_SIGMOID, Token, Wrong, hard_sigmoid, permuted


def lstm(
    gate: Any = sigmoid, candidate: Any = np.tanh, out: Any = np.tanh, seen: float = 0, coupled: bool = False
) -> Wrong:
    """An LSTM with other activations; gates that see the cell with the weight ``seen``."""

    def changed(step: Any, state: tuple, t: Token) -> Any:
        h, c = state
        i, f = (gate(t[f"x_{n}"] + times(t[f"R_{n}"], h) + seen * c) for n in "if")
        c = f * c + (1 - f if coupled else i) * candidate(t["x_g"] + times(t["R_g"], h))
        h = gate(t["x_o"] + times(t["R_o"], h) + seen * c) * out(c)
        return (h, c), h

    return with_step(changed)


def of(identity: str, kind: str, sentence: str, wrong: Wrong, *seen_in: str) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, ("lstm",), ("recurrent",), seen_in=seen_in)


def output_of_the_cell(call: Call) -> Results:
    results = right(call)
    return {**results, "final_state/h": np.tanh(results["final_state/c"])}


FORGET_BIAS = "https://github.com/tensorflow/tensorflow/issues/1326"

LSTM_CELLS = (
    of(
        "lstm-gates-in-onnx-order",
        "gate",
        "Gates in the order i, f, g, o are read as i, o, f, g.",
        permuted(o="f", f="g", g="o"),
        "https://github.com/CrispStrobe/CrispASR/pull/106",
    ),
    of(
        "lstm-gates-in-tensorflow-order",
        "gate",
        "Gates in the order i, f, g, o are read as i, g, f, o.",
        permuted(g="f", f="g"),
        "https://github.com/tensorflow/tensorflow/issues/29308",
    ),
    of(
        "lstm-candidate-and-output-exchanged",
        "gate",
        "Gates in the order i, f, g, o are read as i, f, o, g.",
        permuted(g="o", o="g"),
        "https://github.com/apple/coremltools/pull/93",
    ),
    of(
        "lstm-input-and-forget-exchanged",
        "gate",
        "The input and the forget gate are exchanged.",
        permuted(i="f", f="i"),
    ),
    of(
        "lstm-forget-bias",
        "gate",
        "1 is added inside the forget gate.",
        with_inputs(x_f=lambda x, c: x + 1),
        FORGET_BIAS,
    ),
    of(
        "lstm-gates-through-a-hard-sigmoid",
        "gate",
        "The gates are clipped lines, not sigmoids.",
        lstm(gate=hard_sigmoid),
        HARD_SIGMOID,
    ),
    of("lstm-cell-read-without-tanh", "features", "The cell is read without its tanh.", lstm(out=lambda x: x)),
    of("lstm-candidate-without-tanh", "features", "The candidate passes no tanh.", lstm(candidate=lambda x: x)),
    of(
        "lstm-candidate-through-a-sigmoid",
        "features",
        "The candidate passes a sigmoid.",
        lstm(candidate=sigmoid),
    ),
    of("lstm-peepholes", "gate", "The gates see the cell.", lstm(seen=1.0)),
    of("lstm-input-gate-coupled", "gate", "The input gate is 1 - f.", lstm(coupled=True)),
    of(
        "lstm-state-exchanged-in",
        "state in",
        "Output and cell of the incoming state are exchanged.",
        with_states(h=lambda x, c: c.state[1], c=lambda x, c: c.state[0]),
    ),
    of(
        "lstm-cell-not-handed-in",
        "state in",
        "The incoming cell is ignored.",
        with_states(c=lambda x, c: 0 * x),
    ),
    of(
        "lstm-output-not-handed-in",
        "state in",
        "The incoming output is ignored.",
        with_states(h=lambda x, c: 0 * x),
    ),
    of(
        "lstm-output-handed-out-ungated",
        "state out",
        "The output of the final state lacks its gate: it is tanh of the cell.",
        output_of_the_cell,
    ),
)
