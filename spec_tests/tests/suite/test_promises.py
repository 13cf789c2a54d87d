"""Every golden case, in every profile: its units are fit to judge, and a precision lower than promised is rejected."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import pytest
from drawing import FOUNDATION

import linattn
import linattn_golden
from linattn_golden import Case
from linattn_spec import PROFILES, Profile, verdict
from linattn_spec.emulated import Kernel
from linattn_spec.subject import truth_of

VARIANTS = [variant.name for variant in FOUNDATION]
HEADS = ("Hq", "Hk", "Hv")


@pytest.mark.parametrize("promise", PROFILES)
def test_no_token_of_a_golden_case_is_undetermined_and_no_unit_is_zero(promise):
    for variant in VARIANTS:
        for case in linattn_golden.cases(variant, "certified"):
            assert_fit_to_judge(case, PROFILES[promise])


@pytest.mark.parametrize("variant", VARIANTS)
def test_nor_is_one_of_a_recipe(variant):
    """In bfloat16, whose operands and sums are the coarsest of all profiles."""
    coarsest = PROFILES["bf16"]
    assert all((p.operand_bits, p.bits) >= (coarsest.operand_bits, coarsest.bits) for p in PROFILES.values())
    assert_fit_to_judge(linattn_golden.case(f"{variant}/recipe-64"), coarsest)


def assert_fit_to_judge(case: Case, profile: Profile) -> None:
    for form in set(linattn.variant(case.variant).forms) - {"parallel"}:  # up to 64 tokens it is one chunk
        for name, units in truth_of(case.id, profile, form).units.items():
            assert np.isfinite(units).all(), f"{case.id} {form} {name}"
            assert (units > 0).all(), f"{case.id} {form} {name}"


LIES = [  # promise, what is done instead
    ("fp64", Kernel("float32", bits=24)),
    ("fp32", Kernel("bfloat16 operands", operand_bits=8)),
    ("fp32", Kernel("bfloat16 operands in chunks", 16, operand_bits=8)),
    ("fp32", Kernel("TF32 operands", operand_bits=11)),
    ("fp32", Kernel("float16 operands in chunks", 16, operand_bits=11)),
    ("fp32", Kernel("bfloat16 state", state_bits=8)),
    ("fp32", Kernel("float16 state", state_bits=11)),
    ("bf16-io", Kernel("bfloat16 operands", operand_bits=8)),
    ("bf16-io", Kernel("bfloat16 state", state_bits=8)),
    ("fp16-io", Kernel("float16 operands", operand_bits=11)),
    ("fp16-io", Kernel("float16 state", state_bits=11)),
]


TOLD = [  # the state of softmax attention is its inputs, which every dtype holds
    pytest.param(variant, promise, lie, id=f"{variant}-{promise}-{lie.name}")
    for variant in VARIANTS
    for promise, lie in LIES
    if variant != "softmax_attention" or not lie.state_bits
]


@pytest.mark.parametrize(("variant", "promise", "lie"), TOLD)
def test_a_lower_precision_than_promised_is_rejected(variant, promise, lie):
    assert all(load <= 1 for load in loads(variant, promise, Kernel("honest", lie.chunk)))
    assert max(loads(variant, promise, lie)) > 1


def loads(variant: str, promise: str, kernel: Kernel) -> Iterator[float]:
    """Of the certified cases without grouped heads."""
    for case in linattn_golden.cases(variant, "certified"):
        if len({case.dims[heads] for heads in HEADS}) == 1:
            yield load(case.id, promise, kernel)


@lru_cache
def load(case_id: str, promise: str, kernel: Kernel) -> float:
    case, profile = linattn_golden.case(case_id), PROFILES[promise]
    variant, data = linattn.variant(case.variant), linattn_golden.load(case)
    defaults = {"scale": case.dims["K"] ** -0.5, "eps": 0.0}
    inputs = {item.name: data.inputs.get(item.name, defaults.get(item.name)) for item in variant.inputs}
    state = data.initial_state or tuple(
        np.zeros_like(x[:, :, :0] if "P" in item.axes else x)
        for item, x in zip(variant.state, data.final_state, strict=True)
    )
    with np.errstate(divide="ignore"):
        results = kernel(variant, profile, inputs, state)
    truth = truth_of(case_id, profile, "chunkwise" if kernel.chunk else "recurrent")
    return max(verdict.measure((x - truth.values[name]) / truth.units[name]).load for name, x in results.items())
