"""Gates computed inside, from projections: -exp(A_log) softplus(a + dt_bias) and sigmoid(b)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from linattn.variants import variant
from linattn_spec.mistakes.inside import sigmoid, softplus
from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.precision import rounded
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_inputs

LARGEST = 88.72  # exponent of a float32
NEEDS = ("a", "b", "A_log", "dt_bias")


def decay(a: Array, A_log: Array, dt_bias: Array) -> Array:
    return -np.exp(A_log) * softplus(a + dt_bias)


def with_gates(
    log_decay: Callable[[Array, Array, Array], Array] = decay, beta: Callable[[Array], Array] = sigmoid
) -> Callable[[Call], Results]:
    """Other gates, given to the operator that takes them as they are."""

    def wrong(call: Call) -> Results:
        x = call.inputs
        rate, bias = (x[name][..., None, :] for name in ("A_log", "dt_bias"))
        gates = {"log_decay": log_decay(x["a"], rate, bias), "beta": beta(x["b"])}
        given = {name: x[name] for name in ("q", "k", "v", "scale")}
        return right(replace(call, variant=variant("gated_delta_rule"), inputs=given | gates))

    return wrong


def with_softplus(function: Callable[[Array], Array]) -> Callable[[Call], Results]:
    return with_gates(lambda a, A_log, dt_bias: -np.exp(A_log) * function(a + dt_bias))


def linear_above(threshold: float) -> Callable[[Array], Array]:
    return lambda x: np.where(x > threshold, x, softplus(x))


def overflowing(x: Array) -> Array:
    return np.where(x > LARGEST, np.inf, softplus(x))


def without_log1p(x: Array) -> Array:
    """In float32, whatever the dtype."""
    single = np.asarray(x, dtype=np.float32)
    naive = np.log(1 + np.exp(np.minimum(single, LARGEST)))
    return np.where(x > 0, softplus(x), naive.astype(x.dtype))


def mistake_of_gates(
    identity: str,
    kind: str,
    sentence: str,
    wrong: Callable[[Call], Results],
    seen_in: tuple[str, ...] = (),
    seen_by: tuple[str, ...] = ("golden",),
    profiles: tuple[str, ...] = ("fp32", "bf16", "fp16"),
) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, NEEDS, profiles=profiles, seen_in=seen_in, seen_by=seen_by)


SOFTPLUS = (
    mistake_of_gates(
        "softplus-linear-above-1",
        "gate range",
        "Softplus is taken for its argument above 1, for which the threshold is 20.",
        with_softplus(linear_above(1)),
        ("https://github.com/brainpy/BrainPy/pull/581",),
    ),
    mistake_of_gates(
        "softplus-linear-above-5",
        "gate range",
        "Softplus is taken for its argument above 5, for which the threshold is 20.",
        with_softplus(linear_above(5)),
        ("https://github.com/aesara-devs/aesara/issues/260",),
        profiles=("fp32",),
    ),
    mistake_of_gates(
        "softplus-overflows",
        "gate range",
        "Softplus is log1p(exp(x)) without a threshold: above 88 it is infinite, and everything is forgotten.",
        with_softplus(overflowing),
        ("https://github.com/tracel-ai/burn/pull/5374", "https://github.com/openvinotoolkit/openvino/pull/4932"),
    ),
    mistake_of_gates(
        "softplus-without-log1p",
        "precision",
        "Softplus is log(1 + exp(x)): far below 0 it has no digits in float32.",
        with_softplus(without_log1p),
        ("https://github.com/tenstorrent/tt-metal/issues/9910", "https://github.com/microsoft/onnxruntime/pull/10576"),
        profiles=("fp32",),
    ),
    mistake_of_gates("softplus-missing", "gate", "The softplus is missing.", with_softplus(lambda x: x)),
    mistake_of_gates(
        "softplus-taken-for-relu",
        "gate",
        "The softplus is taken for max(x, 0).",
        with_softplus(lambda x: np.maximum(x, 0)),
    ),
)

DECAY = (
    mistake_of_gates("dt-bias-missing", "gate", "dt_bias is missing.", with_inputs(dt_bias=lambda x, c: 0 * x)),
    mistake_of_gates(
        "dt-bias-twice",
        "gate",
        "dt_bias is added twice: by the projection, and inside.",
        with_inputs(dt_bias=lambda x, c: 2 * x),
        ("https://github.com/ml-explore/mlx-lm/pull/1153", "https://github.com/modular/modular/pull/5748"),
    ),
    mistake_of_gates(
        "dt-bias-after-softplus",
        "gate",
        "dt_bias is added after the softplus.",
        with_gates(lambda a, A_log, dt_bias: -np.exp(A_log) * (softplus(a) + dt_bias)),
    ),
    mistake_of_gates(
        "dt-bias-of-the-first-head",
        "gate",
        "All heads have the dt_bias of the first one.",
        with_inputs(dt_bias=lambda x, c: first_of(x, 0)),
    ),
    mistake_of_gates(
        "rate-without-exp",
        "gate",
        "A_log is taken for the rate itself.",
        with_gates(lambda a, A_log, dt_bias: -A_log * softplus(a + dt_bias)),
    ),
    mistake_of_gates(
        "rate-missing", "gate", "The rate of decay is taken for 1.", with_inputs(A_log=lambda x, c: 0 * x)
    ),
    mistake_of_gates(
        "rate-without-sign",
        "gate",
        "The rate of decay has lost its minus: the state grows.",
        with_gates(lambda a, A_log, dt_bias: np.exp(A_log) * softplus(a + dt_bias)),
    ),
    mistake_of_gates(
        "rate-of-the-first-head",
        "gate",
        "All heads decay at the rate of the first one.",
        with_inputs(A_log=lambda x, c: first_of(x, 0)),
    ),
    mistake_of_gates(
        "projected-decay-of-the-token-before",
        "gate",
        "Token t decays by the projection of token t - 1.",
        with_inputs(a=lambda x, c: shifted(x, 1)),
    ),
    mistake_of_gates(
        "projected-decay-of-the-next-token",
        "gate",
        "Token t decays by the projection of token t + 1.",
        with_inputs(a=lambda x, c: shifted(x, -1)),
        seen_by=("golden", "prefix"),
    ),
    mistake_of_gates(
        "gates-inside-in-bfloat16",
        "precision",
        "The log decay is computed from projections and rounded to bfloat16.",
        with_gates(lambda *x: rounded(decay(*x), "bfloat16")),
        profiles=("fp32",),
    ),
)

STRENGTH = (
    mistake_of_gates(
        "strength-overflows",
        "gate range",
        "The sigmoid is exp(b) / (1 + exp(b)): above 88 it is not a number in float32.",
        with_gates(beta=lambda b: np.where(b > LARGEST, np.nan, sigmoid(b))),
    ),
    mistake_of_gates("strength-without-sigmoid", "beta", "The sigmoid of b is missing.", with_gates(beta=lambda b: b)),
    mistake_of_gates(
        "strength-through-two-sigmoids",
        "beta",
        "A sigmoid is applied to b before the call, and another one inside.",
        with_gates(beta=lambda b: sigmoid(sigmoid(b))),
    ),
    mistake_of_gates(
        "strength-doubled",
        "beta",
        "The sigmoid of b is doubled, as for negative eigenvalues.",
        with_gates(beta=lambda b: 2 * sigmoid(b)),
    ),
    mistake_of_gates(
        "projections-exchanged",
        "gate",
        "The projections of decay and strength are exchanged.",
        with_inputs(a=lambda x, c: c.inputs["b"], b=lambda x, c: c.inputs["a"]),
    ),
)

GATES_INSIDE = SOFTPLUS + DECAY + STRENGTH
