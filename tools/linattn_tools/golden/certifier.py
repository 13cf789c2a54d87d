"""The values of a case, proven: the recurrence over rigorous balls, and gradients by a tape over balls."""

from typing import Any

import numpy as np

from linattn import forms, heads, validate
from linattn.numbers import ball, tape
from linattn.record import Variant
from linattn.variants import variant as find
from linattn_golden import Case, Data

SAMPLE_COLUMNS = 2  # of a recipe: the first batch and head, these value columns


def proven(case: Case, data: Data, form: str = "recurrent", chunk_size: int = 16) -> tuple[dict[str, np.ndarray], int]:
    """``output`` and ``final_state/...`` of a case, correctly rounded, and the precision that proved them."""
    variant = find(case.variant)
    arrays, state = complete(variant, data)
    return ball.certify(lambda numbers: compute(variant, numbers, form, chunk_size), arrays | state)


def proven_bidirectional(case: Case, data: Data) -> tuple[np.ndarray, int]:
    """The output of the non-causal form, which has no state."""
    arrays, _ = complete(find(case.variant), data)
    proof, bits = ball.certify(lambda numbers: compute(find(case.variant), numbers, "bidirectional"), arrays)
    return proof["output"], bits


def proven_gradients(case: Case, data: Data) -> tuple[dict[str, np.ndarray], int]:
    """The gradients by every input and the initial state, for the cotangents of the case."""
    variant = find(case.variant)
    arrays, state = complete(variant, data)
    leaves = arrays | state
    if case.initial_state is None:
        leaves = arrays
    cotangents = {f"cotangent/{name}": value for name, value in data.cotangents.items()}

    def differentiate(numbers: dict[str, Any]) -> dict[str, Any]:
        weights = {name: numbers[f"cotangent/{name}"] for name in data.cotangents}
        return tape.gradients(
            lambda nodes: compute(variant, {**state, **nodes}, "recurrent"),
            {name: numbers[name] for name in leaves},
            weights,
        )

    return ball.certify(differentiate, leaves | cotangents)


def complete(variant: Variant, data: Data) -> tuple[dict[str, Any], dict[str, Any]]:
    """All inputs, defaults filled in, and the state under the names ``initial_state/...``: plain float64."""
    arrays, sizes = validate.complete(variant, data.inputs)
    state = validate.complete_state(variant, data.initial_state, heads.arrange(variant, arrays), sizes)
    return arrays, {f"initial_state/{item.name}": array for item, array in zip(variant.state, state, strict=True)}


def compute(variant: Variant, numbers: dict[str, Any], form: str, chunk_size: int = 16) -> dict[str, Any]:
    """The form on any number system, grouped heads included."""
    arranged = heads.arrange(variant, {item.name: numbers[item.name] for item in variant.inputs})
    state = tuple(numbers.get(f"initial_state/{item.name}") for item in variant.state)
    state, output = forms.run(variant, form, state, arranged.inputs, chunk_size)
    state, output = heads.merge(variant, state, output, arranged.groups)
    return {"output": output} | {f"final_state/{s.name}": x for s, x in zip(variant.state, state, strict=bool(state))}


def sample(case: Case, data: Data) -> Data:
    """The part of a recipe that is proven: one head and a few columns of v, which no other column changes."""
    variant = find(case.variant)

    def first(array: Any, axes: str) -> Any:
        names = axes.split()
        array = array[(0,) * (array.ndim - len(names))]
        return array[..., :SAMPLE_COLUMNS] if names[-1:] == ["V"] else array

    inputs = {
        item.name: first(np.asarray(data.inputs[item.name]), item.axes)
        for item in variant.inputs
        if item.name in data.inputs
    }
    state = data.initial_state and tuple(
        first(array, item.axes) for array, item in zip(data.initial_state, variant.state, strict=True)
    )
    return Data({**inputs, **case.numbers}, state)
