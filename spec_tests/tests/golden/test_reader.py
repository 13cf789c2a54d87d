"""The reader: what it returns, and what it says where there is no such case."""

import numpy as np
import pytest

import linattn_golden
from linattn_golden import Data


def test_cases_are_found_by_variant_and_kind():
    every = list(linattn_golden.cases())
    assert list(linattn_golden.cases("gla")) == [case for case in every if case.variant == "gla"]
    assert list(linattn_golden.cases(kind="recipe")) == [case for case in every if case.kind == "recipe"]
    assert list(linattn_golden.cases("anaconda")) == []


def test_a_case_is_found_by_its_id():
    for case in linattn_golden.cases():
        assert linattn_golden.case(case.id) == case


def test_an_unknown_scenario_is_answered_with_those_of_the_variant():
    known = ", ".join(case.id for case in linattn_golden.cases("gla"))
    with pytest.raises(ValueError, match=rf"^case must be one of {known}; got 'gla/nothing'$"):
        linattn_golden.case("gla/nothing")


def test_an_unknown_variant_is_answered_with_the_variants():
    known = ", ".join(sorted(f"{name}/..." for name in linattn_golden.manifest()["states"]))
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 (the whole message is compared)
        linattn_golden.case("anaconda/long")
    assert str(refusal.value) == f"case must be one of {known}; got 'anaconda/long'"


def test_a_certified_case_has_everything():
    data = linattn_golden.load(linattn_golden.case("normalised_linear_attention/odd-dims"))
    assert list(data.inputs) == ["k", "q", "v"]
    assert [x.shape for x in data.initial_state] == [x.shape for x in data.final_state] == [(2, 3, 5, 11), (2, 3, 5)]
    assert data.output.shape == data.bidirectional.shape == (2, 3, 7, 11)
    assert set(data.cotangents) == {"output", "final_state/S", "final_state/z"}
    by_output = [name for name in data.gradients if name.startswith("output/")]
    assert by_output == [f"output/{name}" for name in ("eps", "initial_state/S", "initial_state/z", "k", "q", "v")]
    assert data.gradients["both/eps"].shape == ()
    arrays = (*data.inputs.values(), *data.initial_state, *data.final_state, data.output, *data.gradients.values())
    assert all(array.dtype == np.float64 for array in arrays)


def test_numbers_are_among_the_inputs():
    assert linattn_golden.load(linattn_golden.case("linear_attention/two-tokens")).inputs["scale"] == 0.5


def test_an_absent_state_is_none():
    assert linattn_golden.load(linattn_golden.case("gla/one-token")).initial_state is None


def test_a_recipe_has_inputs_alone():
    data = linattn_golden.load(linattn_golden.case("kda/recipe-64"))
    assert set(data.inputs) == {"q", "k", "v", "log_decay", "beta"}
    assert [x.shape for x in data.initial_state] == [(1, 2, 64, 64)]
    assert data == Data(data.inputs, data.initial_state)
