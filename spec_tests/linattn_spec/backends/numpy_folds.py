"""Our own folds as a backend: what plain NumPy reaches in float32 and float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

import linattn
from linattn import flat
from linattn.numbers import tape
from linattn.record import Variant
from linattn.variants import known
from linattn_spec.backend import Backend
from linattn_spec.exchange import grows


def folds() -> Backend:
    """Of all variants that are known, in all forms."""
    backend = Backend("NumPy folds of linattn", version=np.__version__, profiles=("fp32", "fp64"), layout="BHTD")
    for variant in known():
        for form in variant.forms:
            backend.implements(variant.name, form)(adapter(variant, form))
            if form != "bidirectional":
                backend.vjp(variant.name, form)(backward(variant, form))
    return backend


def adapter(variant: Variant, form: str) -> Callable[..., Any]:
    narrow = {item.name for item in variant.inputs if item.axes.split()[-1:] == ["1"]}

    def call(initial_state: Any = None, chunk_size: int = 16, cu_seqlens: Any = None, **inputs: Any) -> Any:
        arrays = {name: x[..., None] if name in narrow else x for name, x in inputs.items()}
        options: dict[str, Any] = {"form": form, "chunk_size": chunk_size}
        if cu_seqlens is not None:
            return packed(variant, initial_state, cu_seqlens, **arrays, **options)
        output, state = linattn.prefill(variant, initial_state=initial_state, **arrays, **options)
        return output, state or None

    names = [item.name for item in variant.inputs] + ([] if form == "bidirectional" else ["initial_state"])
    return with_signature(call, [*names, "cu_seqlens"], **({"chunk_size": 16} if form == "chunkwise" else {}))


def packed(variant: Variant, initial_state: Any, cu_seqlens: Any, **arguments: Any) -> Any:
    """States with the sequences as their leading axis; ``prefill`` takes and returns lists."""
    tensors = initial_state if isinstance(initial_state, tuple) else (initial_state,)
    separate = None if initial_state is None else [tuple(x[n : n + 1] for x in tensors) for n in range(len(tensors[0]))]
    output, states = linattn.prefill(variant, initial_state=separate, cu_seqlens=cu_seqlens, **arguments)
    if grows(variant):
        return output, None
    return output, tuple(np.concatenate(tensor) for tensor in zip(*states, strict=True)) or None


def backward(variant: Variant, form: str) -> Callable[..., Any]:
    """The tape, in the precision of the arrays."""
    narrow = {item.name for item in variant.inputs if item.axes.split()[-1:] == ["1"]}

    def vjp(output_cotangent: Any, final_state_cotangent: Any, initial_state: Any = None, **inputs: Any) -> Any:
        inputs.pop("cu_seqlens", None)
        arrays = {name: x[..., None] if name in narrow else x for name, x in inputs.items()}
        tensors = (initial_state,) if isinstance(initial_state, np.ndarray) else initial_state
        numbers = flat.complete(variant, arrays, tensors)
        given = final_state_cotangent if isinstance(final_state_cotangent, tuple) else (final_state_cotangent,)
        weights = {"output": output_cotangent}
        weights |= {f"final_state/{item.name}": x for item, x in zip(variant.state, given, strict=False)}
        weights = {name: x for name, x in weights.items() if x is not None}
        found = tape.gradients(lambda x: flat.compute(variant, x, form, 16), numbers, weights)
        gradients = {n: found[n][..., 0] if n in narrow else found[n] for n in inputs}
        return gradients | {"initial_state": tuple(found[f"initial_state/{item.name}"] for item in variant.state)}

    return vjp


def with_signature(call: Callable[..., Any], names: list[str], **defaults: Any) -> Callable[..., Any]:
    """The suite reads capabilities off the signature: give one function for all variants the names of each."""
    import inspect

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults.get(name, inspect.Parameter.empty))
            for name in (*names, *defaults)
        ]
    )
    return call
