"""Stabilisers may be held constant in a backward pass: no gradient depends on them."""

import numpy as np
import pytest

import linattn_golden
from linattn import VARIANTS, flat
from linattn.numbers import tape
from linattn_spec.autograd import differentiable
from linattn_spec.backend import Unsupported
from linattn_spec.laws.gradients import proven
from linattn_spec.parts import HELD, uses, with_parts

STABILISED = [variant for variant in VARIANTS if any(uses(variant, part) for part in HELD)]
CASES = [case for variant in STABILISED for case in linattn_golden.cases(variant.name, "certified")]


@pytest.mark.parametrize("case", [case for case in CASES if case.cotangents], ids=lambda case: case.id)
def test_held_stabilisers_give_the_proven_gradients(case):
    """Or what is off would widen the units, and no backward pass could be wrong."""
    variant = next(variant for variant in STABILISED if variant.name == case.variant)
    data, want = linattn_golden.load(case), proven(case.id, "output")
    numbers = flat.complete(variant, data.inputs, data.initial_state)
    constant = {name: x for name, x in numbers.items() if name not in want}
    got = tape.gradients(
        lambda x: flat.compute(with_parts(variant, **HELD), constant | x, "chunkwise", 8),
        {name: numbers[name] for name in want},
        {"output": data.cotangents["output"]},
    )
    for name, x in want.items():
        assert np.abs(got[name].reshape(x.shape) - x).max() <= 2.0**-40 * max(np.abs(x).max(), 1), name


def test_a_function_without_a_final_state_has_a_loss_of_its_outputs_alone():
    assert differentiable((1.0, None), [2.0, None, None]) == [1.0]
    with pytest.raises(Unsupported, match="returns no final state"):
        differentiable((1.0, None), [2.0, 3.0])
