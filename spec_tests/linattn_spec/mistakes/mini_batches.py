"""Test-time training: where mini-batches begin and end, and the rates of the tokens."""

from dataclasses import replace
from typing import Any

from linattn.algebra import read
from linattn_spec.mistakes.layer_norms import gradient, trained, ttt
from linattn_spec.mistakes.recall import with_token
from linattn_spec.mistakes.record import Array, Call, Results, right, with_inputs, with_step


def at_the_running_weights(W: Array, b: Array, G: Array, h: Array, t: dict[str, Array]) -> Array:
    return gradient(read(t["k"], W - t["rho"][..., None] * G) + b - t["rho"] * h, t)


def bias_not_trained(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    W, b, G, h, last = state
    (W, b, G, h, rho), o = step(W, b, G, 0 * h, last, **token)
    return (W, b, G, 0 * h, rho), o + rho * h


def read_before_its_gradient(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, step(*state, **{**token, "eta": 0 * token["eta"]})[1]


def bias_not_read(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (W, b, G, h, rho), o = step(*state, **token)
    return (W, b, G, h, rho), o - b + rho * h


def forgotten(state: tuple, token: dict[str, Array]) -> Any:
    """What a mini-batch has collected is dropped at its end."""
    W, b, G, h, last = state
    return (W, b, (1 - token["start"])[..., :, None] * G, (1 - token["start"]) * h, last), {}


def collected_dropped(call: Call) -> Results:
    W, b, G, h, last = call.state
    return right(replace(call, state=(W, b, 0 * G, 0 * h, last)))


def ended_with_the_sequence(call: Call) -> Results:
    results = right(call)
    W, b, G, h, last = (results[f"final_state/{item.name}"] for item in call.variant.state)
    ended = {"W": W - last[..., None] * G, "b": b - last * h, "G": 0 * G, "h": 0 * h}
    return {**results, **{f"final_state/{name}": x for name, x in ended.items()}}


def targets_less_keys(v: Array, call: Call) -> Array:
    """Where K = V."""
    k = call.inputs["k"]
    return v - k if k.shape == v.shape else v


BATCHES = (
    ttt(
        "gradient-at-the-running-weights",
        "Gradients are taken at what the token before left.",
        trained(at_the_running_weights),
    ),
    ttt("batch-of-every-token", "Every token begins a mini-batch.", with_inputs(start=lambda x, c: 0 * x + 1)),
    ttt("batch-never-ended", "No token begins a mini-batch.", with_inputs(start=lambda x, c: 0 * x)),
    ttt("batch-lost-at-its-end", "A new mini-batch starts from the weights of the one before.", with_token(forgotten)),
    ttt(
        "batch-ended-by-the-new-rate",
        "A mini-batch ends with the rho of the token that begins the next.",
        with_token(lambda state, token: ((*state[:4], token["rho"]), {})),
    ),
    ttt("batch-not-handed-over", "The gradients of an open mini-batch are dropped.", collected_dropped),
    ttt(
        "batch-ended-with-the-sequence",
        "The last mini-batch ends with the sequence, though it is open.",
        ended_with_the_sequence,
    ),
    ttt(
        "weights-read-before-their-gradient",
        "A token reads weights without its own gradient.",
        with_step(read_before_its_gradient),
    ),
    ttt(
        "bias-not-trained",
        "The bias keeps its first value.",
        with_step(bias_not_trained),
        "https://github.com/fla-org/flash-linear-attention/issues/185",
    ),
    ttt("bias-not-read", "The bias is not added to what is read.", with_step(bias_not_read)),
    ttt(
        "bias-not-predicted",
        "The prediction for the gradient lacks the bias.",
        trained(lambda W, b, G, h, t: gradient(read(t["k"], W), t)),
    ),
    ttt(
        "prediction-of-the-query",
        "The gradient is taken at what the query reads.",
        trained(lambda W, b, G, h, t: gradient(read(t["q"], W) + b, t)),
    ),
)

RATES = (
    ttt(
        "rates-exchanged",
        "eta and rho are exchanged.",
        with_inputs(eta=lambda x, c: c.inputs["rho"], rho=lambda x, c: c.inputs["eta"]),
    ),
    ttt("rate-of-the-place-ignored", "rho is taken for 1.", with_inputs(rho=lambda x, c: 0 * x + 1)),
    ttt("rate-of-the-token-ignored", "eta is taken for 1.", with_inputs(eta=lambda x, c: 0 * x + 1)),
    ttt(
        "rate-of-the-place-twice",
        "rho weights the gradients and what is read.",
        with_inputs(eta=lambda x, c: x * c.inputs["rho"]),
    ),
    ttt(
        "gradient-of-the-whole-square",
        "The gradient is that of the squared error: twice too large.",
        with_inputs(eta=lambda x, c: 2 * x),
    ),
    ttt("gradient-climbed", "The weights climb along the gradient.", with_inputs(eta=lambda x, c: -x)),
    ttt(
        "targets-less-keys",
        "The key is subtracted from the target, where K = V hides it.",
        with_inputs(v=targets_less_keys),
    ),
)

MINI_BATCHES = BATCHES + RATES
