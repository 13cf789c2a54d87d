"""The values of a case, proven: the recurrence over rigorous balls, and gradients by a tape over balls."""

from typing import Any

import numpy as np

from linattn import flat, validate
from linattn.numbers import ball, tape
from linattn.variants import variant as find
from linattn_golden import Case, Data, of_loss

SAMPLE_COLUMNS, SAMPLE_TOKENS = 2, 8  # of a recipe: the first batch and head; the rest where columns depend on others


def proven(case: Case, data: Data, form: str = "recurrent", chunk_size: int = 16) -> tuple[dict[str, np.ndarray], int]:
    """``output`` and ``final_state/...`` of a case, correctly rounded, and the precision that proved them."""
    variant = find(case.variant)
    numbers = flat.complete(variant, data.inputs, data.initial_state)
    return ball.certify(lambda balls: flat.compute(variant, balls, form, chunk_size), numbers)


def proven_bidirectional(case: Case, data: Data) -> tuple[np.ndarray, int]:
    """The output of the non-causal form, which has no state."""
    variant = find(case.variant)
    arrays, _ = validate.complete(variant, data.inputs)
    proof, bits = ball.certify(lambda balls: flat.compute(variant, balls, "bidirectional"), arrays)
    return proof["output"], bits


def proven_gradients(case: Case, data: Data, loss: str) -> tuple[dict[str, np.ndarray], int]:
    """The gradients by every input and, where the case has one, the initial state."""
    variant = find(case.variant)
    numbers = flat.complete(variant, data.inputs, data.initial_state)
    leaves = {name: x for name, x in numbers.items() if data.initial_state or not name.startswith("initial_state/")}
    cotangents = {f"cotangent/{name}": data.cotangents[name] for name in of_loss(loss, data.cotangents)}

    def differentiate(balls: dict[str, Any]) -> dict[str, Any]:
        return tape.gradients(
            lambda traced: flat.compute(variant, numbers | traced, "recurrent"),
            {name: balls[name] for name in leaves},
            {name.removeprefix("cotangent/"): balls[name] for name in cotangents},
        )

    return ball.certify(differentiate, leaves | cotangents)


def sample(case: Case, data: Data) -> Data:
    """The part of a recipe that is proven: one head, and a few columns that no other changes, or a few tokens."""
    variant = find(case.variant)
    wide = any(item.axes == "K K" for item in variant.state)  # whatever the columns
    columns, tokens = (None if variant.mixing else SAMPLE_COLUMNS, SAMPLE_TOKENS if variant.mixing or wide else None)

    def first(array: Any, axes: str) -> Any:
        names = axes.split()
        ends = {variant.output.split()[-1]: columns, "T": tokens}
        leading = (0,) * (array.ndim - len(names))
        return array[leading + tuple(slice(ends.get(axis)) for axis in names)]

    inputs = {
        item.name: first(np.asarray(data.inputs[item.name]), item.axes)
        for item in variant.inputs
        if item.name in data.inputs
    }
    state = data.initial_state and tuple(
        first(array, item.axes) for array, item in zip(data.initial_state, variant.state, strict=True)
    )
    return Data({**inputs, **case.numbers}, state)
