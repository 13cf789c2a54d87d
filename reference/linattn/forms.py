"""The forms of a variant: folds over its two functions, written once for all variants.

``recurrent`` folds ``step`` over tokens, ``chunkwise`` folds ``parallel`` over chunks; a chunk of the whole
sequence is the parallel form. All take and return the complete state, so that any of them continues where any other
stopped. Nothing is validated, cast or defaulted here (``linattn.prefill`` does that): the same folds run on every
number system.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linattn.record import Variant

Arrays = Mapping[str, Any]
OUTPUT_TIME = -2  # outputs are sequences of vectors: (..., T, V)


def take(variant: Variant, inputs: Arrays, window: int | slice) -> dict[str, Any]:
    """The only slicing there is: an int takes one token, a slice a piece of the sequence; parameters pass through."""

    def cut(name: str, axis: int | None) -> Any:
        if axis is None:
            return inputs[name]
        return inputs[name][(..., window) + (slice(None),) * (-axis - 1)]

    return {item.name: cut(item.name, item.time) for item in variant.inputs}


def length(variant: Variant, inputs: Arrays) -> int:
    """T, the number of tokens."""
    return next(inputs[item.name].shape[item.time] for item in variant.inputs if item.time is not None)


def recurrent(variant: Variant, state: tuple, inputs: Arrays) -> tuple[tuple, Any]:
    """Token by token: what a decoder does."""
    outputs = []
    for t in range(length(variant, inputs)):
        state, output = variant.step(*state, **take(variant, inputs, t))
        outputs.append(output)
    if not outputs:
        return state, no_tokens(variant, inputs)
    return state, np.stack(outputs, axis=OUTPUT_TIME)


def chunkwise(variant: Variant, state: tuple, inputs: Arrays, chunk_size: int = 64) -> tuple[tuple, Any]:
    """Chunk by chunk; the last one may be shorter. The result does not depend on the chunk size."""
    if variant.parallel is None:
        raise ValueError(f"{variant.name} has no closed form over a sequence; use the recurrent form")
    outputs = []
    for t in range(0, length(variant, inputs), chunk_size):
        state, output = variant.parallel(*state, **take(variant, inputs, slice(t, t + chunk_size)))
        outputs.append(output)
    if not outputs:
        return state, no_tokens(variant, inputs)
    return state, np.concatenate(outputs, axis=OUTPUT_TIME)


def parallel(variant: Variant, state: tuple, inputs: Arrays) -> tuple[tuple, Any]:
    """The whole sequence at once."""
    return chunkwise(variant, state, inputs, max(1, length(variant, inputs)))


def bidirectional(variant: Variant, inputs: Arrays, route: int = 0) -> Any:
    """Every token sees every token; there is no state. The two routes are independent of each other."""
    if variant.bidirectional is None:
        raise ValueError(f"{variant.name} has no bidirectional form")
    return variant.bidirectional[route](**inputs) if length(variant, inputs) else no_tokens(variant, inputs)


def run(variant: Variant, form: str, state: tuple, inputs: Arrays, chunk_size: int = 64) -> tuple[tuple, Any]:
    """The form of that name. The bidirectional form has no state."""
    if form == "chunkwise":
        return chunkwise(variant, state, inputs, chunk_size)
    if form == "bidirectional":
        return (), bidirectional(variant, inputs)
    if form in ("recurrent", "parallel"):
        return {"recurrent": recurrent, "parallel": parallel}[form](variant, state, inputs)
    raise ValueError(f"form must be one of {', '.join(variant.forms)}; got {form!r}")


def no_tokens(variant: Variant, inputs: Arrays) -> np.ndarray:
    """The output of an empty sequence."""
    sizes = dims(variant, inputs)
    arrays = [(np.asarray(inputs[item.name]), item) for item in variant.inputs]
    leading = np.broadcast_shapes(*(x.shape[: x.ndim - len(item.axes.split())] for x, item in arrays))
    shape = leading + tuple(sizes[axis] for axis in variant.output.split())
    return np.zeros(shape, dtype=np.result_type(*(x for x, _ in arrays)))


def dims(variant: Variant, inputs: Arrays) -> dict[str, int]:
    """The size of every named axis: {"T": 7, "K": 5, "V": 3}."""
    sizes: dict[str, int] = {}
    for item in variant.inputs:
        axes = item.axes.split()
        sizes.update(zip(axes, np.shape(inputs[item.name])[-len(axes) :], strict=True) if axes else ())
    return {axis: size for axis, size in sizes.items() if not axis.isdigit()}
