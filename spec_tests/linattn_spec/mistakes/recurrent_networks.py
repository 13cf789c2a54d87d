"""The ancestors: recurrent matrices, the RNN and the GRU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import sigmoid, times, transpose
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

MATRICES = ("R", "R_i", "R_f", "R_g", "R_o", "R_z", "R_r", "R_n")
Token = dict[str, Array]
Wrong = Callable[[Call], Results]


def with_matrices(change: Callable[[Array, Call], Array]) -> Wrong:
    """The same change of all recurrent matrices."""
    return with_inputs(**dict.fromkeys(MATRICES, change))


def permuted(**taken: str) -> Wrong:
    """``f="g"``: what belongs to g is taken for f."""

    def of(name: str) -> Callable[[Array, Call], Array]:
        return lambda x, call: call.inputs[name]

    return with_inputs(
        **{f"{kind}_{to}": of(f"{kind}_{source}") for to, source in taken.items() for kind in ("x", "R")}
    )


def hard_sigmoid(x: Array) -> Array:
    return np.clip(0.2 * x + 0.5, 0, 1)


def rnn(function: Callable[[Array, Array], Array]) -> Wrong:
    """Another step: ``function(x, R h)``."""

    def changed(step: Any, state: tuple, t: Token) -> Any:
        h = function(t["x"], times(t["R"], state[0]))
        return (h,), h

    return with_step(changed)


def gru(gate: Any = sigmoid, candidate: Any = np.tanh, recurrent: Any = lambda R, r, h: times(R, r * h)) -> Wrong:
    """A GRU with other activations, or another ``recurrent(matrix, reset gate, state)`` part of the candidate."""

    def changed(step: Any, state: tuple, t: Token) -> Any:
        (h,) = state
        z, r = (gate(t[f"x_{n}"] + times(t[f"R_{n}"], h)) for n in "zr")
        h = z * h + (1 - z) * candidate(t["x_n"] + recurrent(t["R_n"], r, h))
        return (h,), h

    return with_step(changed)


def of(name: str, identity: str, kind: str, sentence: str, wrong: Wrong, *seen_in: str) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, (name,), ("recurrent",), seen_in=seen_in)


def everywhere(identity: str, kind: str, sentence: str, wrong: Wrong, *needs: str) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, ("h", *needs), ("recurrent",))


RECURRENT = (
    everywhere(
        "recurrent-matrix-transposed",
        "layout",
        "The recurrent matrices are transposed.",
        with_matrices(lambda x, c: transpose(x)),
    ),
    everywhere(
        "recurrent-matrix-ignored", "order", "Nothing passes the recurrent matrices.", with_matrices(lambda x, c: 0 * x)
    ),
)

RNN = (
    of("rnn", "rnn-without-tanh", "features", "The state passes no tanh.", rnn(lambda x, y: x + y)),
    of(
        "rnn",
        "rnn-through-relu",
        "features",
        "The state passes a ReLU, not a tanh.",
        rnn(lambda x, y: np.maximum(x + y, 0)),
    ),
    of(
        "rnn",
        "rnn-tanh-before-the-input",
        "order",
        "The tanh acts on what the state contributes alone.",
        rnn(lambda x, y: x + np.tanh(y)),
    ),
    of(
        "rnn",
        "rnn-through-a-sigmoid",
        "features",
        "The state passes a sigmoid, not a tanh.",
        rnn(lambda x, y: sigmoid(x + y)),
    ),
)

HARD_SIGMOID = "https://github.com/tensorflow/tensorflow/issues/47495"
RESET = ("https://github.com/microsoft/onnxscript/issues/2852", "https://github.com/ooples/AiDotNet/pull/722")

GRU = (
    of(
        "gru",
        "gru-reset-after-the-matrix",
        "order",
        "The reset gate acts after the recurrent matrix, as in PyTorch.",
        gru(recurrent=lambda R, r, h: r * times(R, h)),
        *RESET,
    ),
    of("gru", "gru-reset-gate-ignored", "gate", "Nothing is reset.", gru(recurrent=lambda R, r, h: times(R, h))),
    of(
        "gru",
        "gru-update-gate-complemented",
        "gate",
        "z weighs the new state, 1 - z the old one.",
        with_inputs(x_z=lambda x, c: -x, R_z=lambda x, c: -x),
    ),
    of(
        "gru",
        "gru-gates-exchanged",
        "gate",
        "The update and the reset gate are exchanged: z, r, n is read as r, z, n.",
        permuted(z="r", r="z"),
    ),
    of(
        "gru",
        "gru-candidate-without-tanh",
        "features",
        "The candidate of the GRU passes no tanh.",
        gru(candidate=lambda x: x),
    ),
    of(
        "gru",
        "gru-gates-through-a-hard-sigmoid",
        "gate",
        "The gates of the GRU are clipped lines, not sigmoids.",
        gru(gate=hard_sigmoid),
        HARD_SIGMOID,
    ),
)

RECURRENT_NETWORKS = RECURRENT + RNN + GRU
