"""A computation as one function from names to arrays: what certificates, gradients and noise work on.

The names are those of the inputs, "initial_state/NAME", "output" and "final_state/NAME".
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linattn import forms, heads, validate
from linattn.record import Variant


def complete(variant: Variant, inputs: Mapping[str, Any], initial_state: tuple | None) -> dict[str, Any]:
    """All inputs, defaults filled in, and the state: one for every key and value head."""
    arrays, sizes = validate.complete(variant, inputs)
    arranged = heads.arrange(variant, arrays)
    state = validate.complete_state(variant, initial_state, arranged, sizes)
    merged = (heads.joined(x, item.axes, arranged.groups) for x, item in zip(state, variant.state, strict=True))
    return arrays | {f"initial_state/{item.name}": x for item, x in zip(variant.state, merged, strict=True)}


def compute(variant: Variant, numbers: Mapping[str, Any], form: str, chunk_size: int = 64) -> dict[str, Any]:
    """The form on any number system, grouped heads included. The bidirectional form has an output alone."""
    arranged = heads.arrange(variant, {item.name: numbers[item.name] for item in variant.inputs})
    state: tuple = ()
    if form != "bidirectional":
        state = tuple(grouped(numbers[f"initial_state/{s.name}"], s.axes, arranged.leading) for s in variant.state)
    state, output = forms.run(variant, form, state, arranged.inputs, chunk_size)
    state, output = heads.merge(variant, state, output, arranged.groups)
    return {"output": output} | {f"final_state/{s.name}": x for s, x in zip(variant.state, state, strict=bool(state))}


def grouped(x: Any, axes: str, leading: tuple[int, ...]) -> Any:
    """A state with the leading axes of what is written into it."""
    return x.reshape(leading + np.shape(x)[np.ndim(x) - len(axes.split()) :])
