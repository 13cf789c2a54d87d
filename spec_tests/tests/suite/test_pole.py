"""Signed features under a normaliser: where the denominator is close to 0, nothing that computes in bfloat16 is right.

Such tokens are undetermined, and not judged; all others are.
"""

from typing import Any

import numpy as np
import pytest
from emulated import Kernel

import linattn
from linattn.features import sin_cos
from linattn_spec import PROFILES, verdict
from linattn_spec.comparison import Comparison
from linattn_spec.frameworks import typed

PROFILE = PROFILES["bf16"]
VARIANT = linattn.variant("normalised_linear_attention")
KERNELS = (Kernel("recurrent"), Kernel("chunks", 16), Kernel("parallel", 128))


@pytest.fixture(scope="module")
def inputs() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    q, k = typed(sin_cos(3 * rng.normal(size=(2, 8, 2, 128, 8))), "bfloat16").values
    return {"q": q, "k": k, "v": typed(rng.normal(size=(8, 2, 128, 4)), "bfloat16").values, "eps": 2.0**-20}


@pytest.fixture(scope="module")
def truth(inputs) -> verdict.Truth:
    return verdict.truth(VARIANT, PROFILE, "recurrent", inputs, None)


@pytest.fixture(scope="module")
def undetermined(truth) -> np.ndarray:
    return np.isinf(truth.units["output"])


def load(truth: verdict.Truth, output: np.ndarray) -> float:
    return verdict.measure(Comparison({"output": output}, truth.values, truth.units).errors["output"]).load


def test_tokens_at_a_pole_are_undetermined_as_a_whole_and_no_others(inputs, undetermined):
    tokens = undetermined.any(axis=-1)
    assert np.array_equal(tokens, undetermined.all(axis=-1))
    weights = np.tril(inputs["q"] @ np.swapaxes(inputs["k"], -1, -2))
    condition = np.abs(weights).sum(axis=-1) / np.abs(weights.sum(axis=-1) + inputs["eps"])
    assert tokens.flat[condition.argmax()]
    # Four operands, each off by at most sqrt(2) 2^-8, must together come to 1 / POLE of the result.
    assert condition[tokens].min() > 2**8 / (4 * 2**0.5 * verdict.POLE)
    assert tokens.mean() < 0.05


def test_states_have_no_pole(truth):
    assert all(np.isfinite(truth.units[name]).all() for name in ("final_state/S", "final_state/z"))


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_right_implementations_are_right_everywhere_else(inputs, truth, kernel):
    state = (np.zeros((8, 2, 16, 4)), np.zeros((8, 2, 16)))
    assert load(truth, kernel(VARIANT, PROFILE, inputs, state)["output"]) <= 1


@pytest.mark.parametrize("wrong", [1e6, np.nan])
def test_undetermined_tokens_are_not_judged_and_all_others_are(truth, undetermined, wrong):
    right = truth.values["output"]
    assert load(truth, np.where(undetermined, wrong, right)) == 0
    for index in np.argwhere(~undetermined)[:: undetermined.size // 100]:
        spoilt = right.copy()
        spoilt[tuple(index)] = wrong
        assert load(truth, spoilt) > 1
