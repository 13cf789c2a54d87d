"""HGRN, RG-LRU, minGRU and minLSTM: by what their inputs are weighed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.mistakes.inside import sigmoid
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

Token = dict[str, Array]


def with_weights(keep: Callable[[Token], Array], write: Callable[[Token], Array]) -> Callable[[Call], Results]:
    """A scan with other factors on the state and on the input."""

    def changed(step: Any, state: tuple, token: Token) -> Any:
        h = keep(token) * state[0] + write(token) * token["x"]
        return (h,), h

    return with_step(changed)


def of(variant: str, identity: str, kind: str, sentence: str, wrong: Callable[[Call], Results]) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, (variant,))


def decay(t: Token) -> Array:
    return np.exp(t["log_decay"])


def squashed(x: Array) -> Array:
    """x + 1/2 above 0, a sigmoid below."""
    return np.where(x >= 0, x + 0.5, sigmoid(np.minimum(x, 0)))


def first_one_open(x: Array, call: Call) -> Array:
    return np.concatenate([np.full_like(x[:, :, :1], -np.inf), x[:, :, 1:]], axis=2)


HGRN = (
    of(
        "hgrn",
        "hgrn-input-not-weighed",
        "order",
        "The input is written without its factor 1 - decay, as a bare scan does.",
        with_weights(decay, lambda t: 1 + 0 * t["x"]),
    ),
    of(
        "hgrn",
        "hgrn-input-weighed-by-the-decay",
        "order",
        "The input is weighed with the decay, the state with 1 - decay.",
        with_weights(lambda t: 1 - decay(t), decay),
    ),
)


def of_rg_lru(identity: str, sentence: str, factor: Callable[[Token], Array]) -> Mistake:
    """Another factor on the gated input."""
    return Mistake(identity, "order", sentence, with_weights(decay, lambda t: factor(t) * t["i"]), ("rg_lru",))


RG_LRU = (
    of_rg_lru("rg-lru-input-not-normalised", "The factor sqrt(1 - decay^2) is missing.", lambda t: 1 + 0 * t["i"]),
    of_rg_lru("rg-lru-root-missing", "The factor on the input is 1 - decay^2.", lambda t: 1 - decay(t) ** 2),
    of_rg_lru(
        "rg-lru-decay-not-squared", "The factor on the input is sqrt(1 - decay).", lambda t: np.sqrt(1 - decay(t))
    ),
    of_rg_lru("rg-lru-square-missing", "The factor on the input is 1 - decay, as in HGRN.", lambda t: 1 - decay(t)),
    of_rg_lru(
        "rg-lru-log-decay-squared",
        "The log decay is squared for the decay: the factor is sqrt(1 - g^2).",
        lambda t: np.sqrt(np.maximum(1 - np.maximum(t["log_decay"], -1) ** 2, 0)),
    ),
    of(
        "rg_lru",
        "rg-lru-first-token-written-whole",
        "order",
        "The first token is taken for the first of a sequence: it forgets the state and is written whole.",
        with_inputs(log_decay=first_one_open),
    ),
    of(
        "rg_lru",
        "rg-lru-input-gate-missing",
        "gate",
        "The input gate is missing.",
        with_inputs(i=lambda x, c: 1 + 0 * x),
    ),
    of("rg_lru", "rg-lru-input-gate-twice", "gate", "The input gate acts twice.", with_inputs(i=lambda x, c: x * x)),
    of(
        "rg_lru",
        "rg-lru-input-gate-through-a-sigmoid",
        "gate",
        "A sigmoid is applied to the input gate, which has been through one.",
        with_inputs(i=lambda x, c: sigmoid(x)),
    ),
)

MIN_GRU = (
    of(
        "min_gru",
        "min-gru-gate-complemented",
        "gate",
        "z weighs the old state, 1 - z the candidate.",
        with_inputs(z=lambda x, c: 1 - x),
    ),
    of(
        "min_gru",
        "min-gru-candidate-not-weighed",
        "order",
        "The candidate is written whole.",
        with_weights(lambda t: 1 - t["z"], lambda t: 1 + 0 * t["z"]),
    ),
    of(
        "min_gru",
        "min-gru-gate-through-a-sigmoid",
        "gate",
        "A sigmoid is applied to z, which has been through one.",
        with_inputs(z=lambda x, c: sigmoid(x)),
    ),
    of(
        "min_gru",
        "min-gru-candidate-through-tanh",
        "features",
        "The candidate passes a tanh, as in a GRU.",
        with_inputs(x=lambda x, c: np.tanh(x)),
    ),
    of(
        "min_gru",
        "min-gru-candidate-made-positive",
        "features",
        "The candidate is made positive inside, as a scan of logarithms needs it.",
        with_inputs(x=lambda x, c: squashed(x)),
    ),
)


def share(t: Token) -> Array:
    """Of the forget gate in the sum of the exponentials."""
    return 1 / (1 + np.exp(t["i"] - t["f"]))


MIN_LSTM = (
    of(
        "min_lstm",
        "min-lstm-gates-not-normalised",
        "normaliser",
        "The gates are not divided by their sum.",
        with_weights(lambda t: t["f"], lambda t: t["i"]),
    ),
    of(
        "min_lstm",
        "min-lstm-input-not-normalised",
        "normaliser",
        "The input gate alone is not divided by the sum.",
        with_weights(lambda t: t["f"] / (t["f"] + t["i"]), lambda t: t["i"]),
    ),
    of(
        "min_lstm",
        "min-lstm-gates-exchanged",
        "gate",
        "The forget and the input gate are exchanged.",
        with_inputs(f=lambda x, c: c.inputs["i"], i=lambda x, c: c.inputs["f"]),
    ),
    of(
        "min_lstm",
        "min-lstm-gates-through-a-softmax",
        "normaliser",
        "The exponentials of the gates are divided by their sum.",
        with_weights(share, lambda t: 1 - share(t)),
    ),
    of(
        "min_lstm",
        "min-lstm-gates-through-a-sigmoid",
        "gate",
        "A sigmoid is applied to the gates, which have been through one.",
        with_inputs(f=lambda x, c: sigmoid(x), i=lambda x, c: sigmoid(x)),
    ),
    of(
        "min_lstm",
        "min-lstm-input-gate-coupled",
        "gate",
        "The input gate is ignored: 1 - f weighs the candidate.",
        with_weights(lambda t: t["f"], lambda t: 1 - t["f"]),
    ),
    of(
        "min_lstm",
        "min-lstm-candidate-through-tanh",
        "features",
        "The candidate passes a tanh, as in an LSTM.",
        with_inputs(x=lambda x, c: np.tanh(x)),
    ),
)

GATED_SCANS = HGRN + RG_LRU + MIN_GRU + MIN_LSTM
