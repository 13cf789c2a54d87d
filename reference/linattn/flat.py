"""A computation as one function from names to arrays: what certificates, gradients and noise work on.

The names are those of the inputs, "initial_state/NAME", "output" and "final_state/NAME".
"""

from collections.abc import Mapping
from typing import Any

from linattn import forms, heads, validate
from linattn.record import Variant


def complete(variant: Variant, inputs: Mapping[str, Any], initial_state: tuple | None) -> dict[str, Any]:
    """All inputs, defaults filled in, and the state."""
    arrays, sizes = validate.complete(variant, inputs)
    state = validate.complete_state(variant, initial_state, heads.arrange(variant, arrays), sizes)
    return arrays | {f"initial_state/{item.name}": x for item, x in zip(variant.state, state, strict=True)}


def compute(variant: Variant, numbers: Mapping[str, Any], form: str, chunk_size: int = 64) -> dict[str, Any]:
    """The form on any number system, grouped heads included. The bidirectional form has an output alone."""
    arranged = heads.arrange(variant, {item.name: numbers[item.name] for item in variant.inputs})
    state = tuple(numbers.get(f"initial_state/{item.name}") for item in variant.state)
    state, output = forms.run(variant, form, state, arranged.inputs, chunk_size)
    state, output = heads.merge(variant, state, output, arranged.groups)
    return {"output": output} | {f"final_state/{s.name}": x for s, x in zip(variant.state, state, strict=bool(state))}
