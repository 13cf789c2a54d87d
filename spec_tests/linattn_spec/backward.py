"""The exchange of a backward pass: cotangents out, gradients back, from and to the reference layout."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linattn.record import Input
from linattn_spec.backend import Unsupported
from linattn_spec.exchange import Exchange, Results, WrongReturn, groups


def gradients(
    exchange: Exchange, inputs: Mapping[str, Any], state: tuple | None, cotangents: Mapping[str, np.ndarray]
) -> Results:
    """The gradients that the function's backward pass returns, by every array that it takes: "q",
    "initial_state/S" ...
    """
    function = exchange.function
    if function.vjp is None:
        raise Unsupported("registers no vjp")
    arguments = exchange.arguments(inputs, state)
    heads = groups(exchange.variant, inputs)
    returned = function.vjp(*weights(exchange, cotangents, heads), **arguments)
    found = {}
    for item in exchange.variant.inputs:
        if item.name in arguments and item.axes and item.name not in function.without:
            found[item.name] = inward(exchange, item, one_of(returned, item.name), inputs, heads)
    if arguments.get("initial_state") is None or "initial_state" in function.without:
        return found
    return found | inward_state(exchange, one_of(returned, "initial_state"), heads)


def one_of(returned: Any, name: str) -> Any:
    if not isinstance(returned, Mapping):
        raise WrongReturn(f"vjp must return a mapping from names to gradients; got {type(returned).__name__}")
    if returned.get(name) is None:
        raise WrongReturn(f"vjp must return the gradient by {name}, or say without=({name!r},); got none")
    return returned[name]


def weights(exchange: Exchange, cotangents: Mapping[str, np.ndarray], heads: int) -> tuple[Any, Any]:
    """The cotangents as the results are laid out; None for results on which the loss does not depend."""
    output = None
    if "output" in cotangents:
        g = exchange.reordered(cotangents["output"], heads)
        g = np.swapaxes(g, 1, 2) if exchange.function.conventions.layout == "BTHD" else g
        output = exchange.cast("output cotangent", g, exchange.profile.array)
    states = tuple(cotangents.get(f"final_state/{item.name}") for item in exchange.variant.state)
    return output, None if any(g is None for g in states) else exchange.state_outward(states, heads)


def inward(exchange: Exchange, item: Input, gradient: Any, inputs: Mapping[str, Any], heads: int) -> np.ndarray:
    """The gradient by one input, and by its logarithm where the function takes the decay itself."""
    profile, conventions = exchange.profile, exchange.function.conventions
    dtype = profile.array if item.role == "data" else profile.gate
    g = exchange.received(f"gradient by {item.name}", gradient, dtype, axes=1 if item.time is None else 3)
    g = g[..., None] if item.axes.split()[-1] == "1" else g
    if item.time is None:
        g = exchange.reordered(g[None], heads, back=True)[0]
    else:
        g = np.swapaxes(g, 1, 2) if conventions.layout == "BTHD" else g
        g = exchange.reordered(g, heads, back=True)
    return g * np.exp(inputs[item.name]) if conventions.gate == "linear" and item.name == "log_decay" else g


def inward_state(exchange: Exchange, gradient: Any, heads: int) -> Results:
    tensors = gradient if isinstance(gradient, tuple | list) else (gradient,)
    if len(tensors) != len(exchange.variant.state):
        names = ", ".join(item.name for item in exchange.variant.state)
        raise WrongReturn(f"the gradient by initial_state must hold {names}; got {len(tensors)} arrays")
    found = {}
    for item, x in zip(exchange.variant.state, tensors, strict=True):
        g = exchange.received(f"gradient by initial_state {item.name}", x, exchange.profile.state)
        found[f"initial_state/{item.name}"] = exchange.reordered(exchange.turned(g, item.axes), heads, back=True)
    return found
