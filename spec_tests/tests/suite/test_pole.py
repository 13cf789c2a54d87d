"""Signed features under a normaliser: where the denominator is close to 0, nothing that computes in bfloat16 is right.

Such tokens are undetermined, and not judged; all others are. With two features most poles are those of a closed form
alone: its terms cancel.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import linattn
from linattn.features import sin_cos
from linattn_spec import PROFILES, verdict
from linattn_spec.comparison import Comparison
from linattn_spec.emulated import kernels
from linattn_spec.frameworks import typed

PROFILE = PROFILES["bf16"]
VARIANT = linattn.variant("normalised_linear_attention")
TOKENS = 128
EACH_WIDTH = pytest.mark.parametrize("width", [2, 16])
EACH_FORM = pytest.mark.parametrize("form", ["recurrent", "chunkwise", "parallel"])


@lru_cache
def inputs(width: int) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    q, k = typed(sin_cos(3 * rng.normal(size=(2, 8, 2, TOKENS, width // 2))), "bfloat16").values
    return {"q": q, "k": k, "v": typed(rng.normal(size=(8, 2, TOKENS, 4)), "bfloat16").values, "eps": 2.0**-20}


@lru_cache
def truth(width: int, form: str) -> verdict.Truth:
    return verdict.truth(VARIANT, PROFILE, form, inputs(width), None)


def undetermined(width: int, form: str) -> np.ndarray:
    return np.isinf(truth(width, form).units["output"])


def load(truth: verdict.Truth, output: np.ndarray) -> float:
    return verdict.measure(Comparison({"output": output}, truth.values, truth.units).errors["output"]).load


@pytest.mark.parametrize(("width", "form"), [(16, "recurrent"), (16, "chunkwise"), (2, "chunkwise"), (2, "parallel")])
def test_tokens_at_a_pole_are_undetermined_as_a_whole_and_no_others(width, form):
    every = undetermined(width, form)
    tokens = every.any(axis=-1)
    assert np.array_equal(tokens, every.all(axis=-1))
    weights = np.tril(inputs(width)["q"] @ np.swapaxes(inputs(width)["k"], -1, -2))
    condition = np.abs(weights).sum(axis=-1) / np.abs(weights.sum(axis=-1) + inputs(width)["eps"])
    assert tokens.flat[condition.argmax()]
    # Four operands, each off by at most sqrt(2) 2^-8, must together come to 1 / POLE of the result.
    assert condition[tokens].min() > 2**8 / (4 * 2**0.5 * verdict.POLE)
    assert tokens.mean() < 0.05


@EACH_WIDTH
def test_a_closed_form_has_the_poles_of_the_recurrence_and_more(width):
    recurrent, chunkwise = (undetermined(width, form) for form in ("recurrent", "chunkwise"))
    assert chunkwise[recurrent].all()
    assert chunkwise.sum() > recurrent.sum()


@EACH_FORM
def test_states_have_no_pole(form):
    assert all(np.isfinite(truth(16, form).units[name]).all() for name in ("final_state/S", "final_state/z"))


@EACH_WIDTH
@EACH_FORM
def test_right_implementations_are_right_everywhere_else(width, form):
    state = (np.zeros((8, 2, width, 4)), np.zeros((8, 2, width)))
    results = {k.name: k(VARIANT, PROFILE, inputs(width), state)["output"] for k in kernels(VARIANT, form, TOKENS)}
    assert {name: x for name, x in results.items() if load(truth(width, form), x) > 1} == {}


@pytest.mark.parametrize("wrong", [1e6, np.nan])
def test_undetermined_tokens_are_not_judged_and_all_others_are(wrong):
    one = truth(16, "chunkwise")
    right, at_a_pole = one.values["output"], np.isinf(one.units["output"])
    assert load(one, np.where(at_a_pole, wrong, right)) == 0
    for index in np.argwhere(~at_a_pole)[:: at_a_pole.size // 100]:
        spoilt = right.copy()
        spoilt[tuple(index)] = wrong
        assert load(one, spoilt) > 1
