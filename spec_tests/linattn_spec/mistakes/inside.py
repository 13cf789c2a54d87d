"""What belongs before or after the operator, done inside once more: activations, norms, feature maps, skips."""

import numpy as np

from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    right,
    with_all_heads,
    with_inputs,
    with_output,
)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def unit(x: Array, call: Call) -> Array:
    return x / np.sqrt((x * x).sum(axis=-1, keepdims=True))


def sum_to_one(x: Array, call: Call) -> Array:
    return x / x.sum(axis=-1, keepdims=True)


def unit_over_heads(x: Array, call: Call) -> Array:
    return x / np.sqrt((x * x).sum(axis=(1, 3), keepdims=True))


def values_added(call: Call) -> Results:
    results, v = right(call), with_all_heads(call).inputs["v"]
    return {**results, "output": results["output"] + v}


def queries_added(call: Call) -> Results:
    """Where K = V."""
    results, q = right(call), with_all_heads(call).inputs["q"]
    return {**results, "output": results["output"] + (q if q.shape == results["output"].shape else 0)}


def own_write_added(call: Call) -> Results:
    results, x = right(call), with_all_heads(call).inputs
    bonus = call.inputs["scale"] * (x["q"] * x["k"]).sum(axis=-1, keepdims=True) * x["v"]
    return {**results, "output": results["output"] + bonus}


ACTIVATIONS = (
    Mistake(
        "gate-through-a-log-sigmoid",
        "gate",
        "A log-sigmoid is applied to the log decay, which has been through one.",
        with_inputs(log_decay=lambda x, c: -softplus(-x)),
        ("log_decay",),
    ),
    Mistake(
        "gate-through-a-bounded-sigmoid",
        "gate",
        "The log decay is taken as -5 times a sigmoid of what is given.",
        with_inputs(log_decay=lambda x, c: -5 * sigmoid(x)),
        ("log_decay",),
    ),
    Mistake(
        "gate-through-minus-exp",
        "gate",
        "The log decay is taken as -exp of what is given.",
        with_inputs(log_decay=lambda x, c: -np.exp(x)),
        ("log_decay",),
    ),
    Mistake(
        "beta-through-a-sigmoid",
        "beta",
        "A sigmoid is applied to beta, which has been through one.",
        with_inputs(beta=lambda x, c: sigmoid(x)),
        ("beta per token",),
    ),
    Mistake(
        "queries-through-silu",
        "features",
        "SiLU is applied to the queries.",
        with_inputs(q=lambda x, c: x * sigmoid(x)),
    ),
    Mistake(
        "keys-through-silu", "features", "SiLU is applied to the keys.", with_inputs(k=lambda x, c: x * sigmoid(x))
    ),
    Mistake(
        "values-through-silu", "features", "SiLU is applied to the values.", with_inputs(v=lambda x, c: x * sigmoid(x))
    ),
    Mistake(
        "queries-through-elu",
        "features",
        "The feature map elu + 1 is applied to the queries.",
        with_inputs(q=lambda x, c: np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))),
    ),
)

NORMS = (
    Mistake("keys-normalised", "norm", "The keys are normalised inside.", with_inputs(k=unit)),
    Mistake("queries-normalised", "norm", "The queries are normalised inside.", with_inputs(q=unit)),
    Mistake(
        "keys-normalised-with-eps",
        "norm",
        "The keys are normalised inside, with an eps of 1e-6 in the root.",
        with_inputs(k=lambda x, c: x / np.sqrt((x * x).sum(axis=-1, keepdims=True) + 1e-6)),
    ),
    Mistake("keys-sum-to-one", "norm", "The keys are divided by their sum.", with_inputs(k=sum_to_one)),
    Mistake("queries-sum-to-one", "norm", "The queries are divided by their sum.", with_inputs(q=sum_to_one)),
    Mistake(
        "keys-normalised-over-heads",
        "norm",
        "The keys are normalised over all heads together.",
        with_inputs(k=unit_over_heads),
    ),
    Mistake("outputs-normalised", "norm", "The outputs are normalised inside.", with_output(unit)),
    Mistake(
        "outputs-through-silu", "features", "SiLU is applied to the outputs.", with_output(lambda x, c: x * sigmoid(x))
    ),
)

SKIPS = (
    Mistake("values-added", "skip", "The value of a token is added to its output.", values_added),
    Mistake("queries-added", "skip", "The query is added to the output, where K = V hides it.", queries_added),
    Mistake(
        "own-write-read-twice",
        "skip",
        "What a token writes is added to its output once more.",
        own_write_added,
        ("scale", "matrix state"),
    ),
)

INSIDE = ACTIVATIONS + NORMS + SKIPS
