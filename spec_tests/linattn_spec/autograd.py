"""The backward pass that a framework derives itself from a function: ``implements(..., vjp="autograd")``."""

from collections.abc import Callable, Mapping
from typing import Any

from linattn_spec.function import Unsupported

Tensors = dict[str, Any]  # arguments that are differentiated; several tensors of a state are a tuple


def autograd(framework: str, call: Callable[..., Any]) -> Callable[..., Tensors]:
    """``vjp(output_cotangent, final_state_cotangent, **arguments)`` of a registered function."""
    ways = {"torch": torch_gradients, "jax": jax_gradients, "mlx": mlx_gradients}
    if framework not in ways:
        raise ValueError(f"vjp 'autograd' needs array torch, jax or mlx; got {framework!r}")

    def vjp(output_cotangent: Any, final_state_cotangent: Any, **arguments: Any) -> Tensors:
        return ways[framework](call, arguments, flat((output_cotangent, final_state_cotangent)))

    return vjp


def flat(x: Any) -> list[Any]:
    """All tensors of nested tuples; None stands for none."""
    return [tensor for part in x for tensor in flat(part)] if isinstance(x, tuple | list) else [x]


def is_tensor(x: Any) -> bool:
    return all(hasattr(part, "dtype") and "int" not in str(part.dtype) for part in flat(x))


def torch_gradients(call: Callable[..., Any], arguments: Mapping[str, Any], cotangents: list[Any]) -> Tensors:
    """What the results do not depend on, in the eyes of the framework, has the gradient 0."""
    import torch

    leaves = {name: mapped(lambda x: x.requires_grad_(), x) for name, x in arguments.items() if is_tensor(x)}
    results = differentiable(call(**{**arguments, **leaves}), cotangents)
    pairs = [(x, g) for x, g in zip(results, cotangents, strict=False) if g is not None and x.requires_grad]
    if not pairs:
        return {name: mapped(torch.zeros_like, x) for name, x in leaves.items()}
    outputs, weights = zip(*pairs, strict=True)
    tensors = flat(tuple(leaves.values()))
    found = torch.autograd.grad(outputs, tensors, weights, allow_unused=True)
    by_tensor = {id(x): torch.zeros_like(x) if g is None else g for x, g in zip(tensors, found, strict=True)}
    return {name: mapped(lambda x: by_tensor[id(x)], x) for name, x in leaves.items()}


def jax_gradients(call: Callable[..., Any], arguments: Mapping[str, Any], cotangents: list[Any]) -> Tensors:
    import jax
    import jax.numpy as jnp

    leaves = {name: x for name, x in arguments.items() if is_tensor(x)}
    results, back = jax.vjp(lambda given: differentiable(call(**{**arguments, **given}), cotangents), leaves)
    weights = [jnp.zeros_like(x) if g is None else g for x, g in zip(results, padded(cotangents, results), strict=True)]
    return back(weights)[0]


def mlx_gradients(call: Callable[..., Any], arguments: Mapping[str, Any], cotangents: list[Any]) -> Tensors:
    import mlx.core as mx

    names = [name for name, x in arguments.items() if is_tensor(x)]

    def function(*tensors: Any) -> Any:
        return differentiable(call(**{**arguments, **dict(zip(names, tensors, strict=True))}), cotangents)

    results = function(*(arguments[name] for name in names))
    weights = [mx.zeros_like(x) if g is None else g for x, g in zip(results, padded(cotangents, results), strict=True)]
    return dict(zip(names, mx.vjp(function, [arguments[name] for name in names], weights)[1], strict=True))


def differentiable(returned: Any, cotangents: list[Any]) -> list[Any]:
    """The results. A function that returns None for its state has a loss of the outputs alone."""
    results = [x for x in flat(returned) if x is not None]
    if any(g is not None for g in cotangents[len(results) :]):
        raise Unsupported("it returns no final state, of which the loss would be")
    return results


def padded(cotangents: list[Any], results: list[Any]) -> list[Any]:
    return (cotangents + [None] * (len(results) - len(cotangents)))[: len(results)]


def mapped(function: Callable[[Any], Any], x: Any) -> Any:
    return tuple(function(part) for part in x) if isinstance(x, tuple) else function(x)
