"""The golden gradients: every one is the derivative, along directions in which one wrong element is seen."""

from dataclasses import replace

import numpy as np
import pytest

import linattn_golden
from linattn import flat, variant
from linattn.numbers import complex_step

UNSEEN = 1e-100  # a step of 1e-200 sees no smaller slope: it underflows
CANCELS = {"retnet": "scale"}  # out of the norm, where eps = 0: the slope is 0 beside terms of the size of 1


def disagreement(case, data):
    """How far every gradient is from the complex step along two random directions, relative to the sum of the sizes of
    its terms. One wrong element is seen in both.
    """
    record = variant(case.variant)
    numbers = flat.complete(record, data.inputs, data.initial_state)
    rng, worst = np.random.default_rng(0), {}
    for path, gradient in data.gradients.items():
        loss, name = path.split("/", 1)
        cotangents = {result: data.cotangents[result] for result in linattn_golden.of_loss(loss, data.cotangents)}
        for direction in rng.normal(size=(2, *gradient.shape)):

            def along(step, name=name, direction=direction):
                return flat.compute(record, numbers | {name: numbers[name] + step["h"] * direction}, "recurrent")

            slope = complex_step.gradient(along, {"h": np.zeros(())}, cotangents, "h")
            terms = gradient * direction
            least = 1 if CANCELS.get(case.variant) == name else UNSEEN
            worst[path] = max(worst.get(path, 0), abs(slope - terms.sum()) / max(np.abs(terms).sum(), least))
    return worst


WITH_GRADIENTS = [case for case in linattn_golden.cases() if case.cotangents]
ROUNDING = 1e-12  # of a sum of products of at most a few thousand roundings
CANCELLING = (
    "fox/gates-strong",
    "power_attention/gates-strong",
)  # up to three bits more: what strong gates leave is small


@pytest.mark.parametrize("case", WITH_GRADIENTS, ids=lambda case: case.id)
def test_gradients_agree_with_the_complex_step(case):
    """By every input and, where one is given, by every tensor of the state."""
    record, data = variant(case.variant), linattn_golden.load(case)
    state = [f"initial_state/{item.name}" for item in record.state] if case.initial_state else []
    names = [*(item.name for item in record.inputs), *state]
    assert set(data.gradients) == {f"{loss}/{name}" for loss in ("both", "output", "state") for name in names}
    assert max(disagreement(case, data).values()) <= ROUNDING * (8 if case.id in CANCELLING else 1)


def test_a_wrong_gradient_is_seen():
    """One element of one gradient, wrong by a millionth."""
    case = linattn_golden.case("gla/odd-dims")
    data = linattn_golden.load(case)
    wrong = data.gradients["state/k"].copy()
    wrong.flat[7] *= 1 + 1e-6
    found = disagreement(case, replace(data, gradients={"state/k": wrong}))
    assert found["state/k"] > ROUNDING
