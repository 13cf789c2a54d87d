"""The constraints of the records of the delta rules, over the finite field, where unit vectors are rational."""

import random

import numpy as np
import pytest
from drawing import SIZES, each, equal, over_field, over_floats

from linattn import forms, prefill, variant
from linattn.algebra import outer, read, transpose
from linattn.numbers import field

RULES = [variant(name) for name in ("delta_rule", "gated_delta_rule", "kda")]
GATED_DELTA = RULES[1:]


def orthonormal(n, seed=0):
    """n orthonormal vectors of length n: the rows of a reflection I - 2 x x^T / x.x."""
    x = field.draw((n,), "number", random.Random(seed))
    return np.eye(n, dtype=int) - outer(x, x) * (2 / (x @ x))


def with_unit_keys(variant, **sizes):
    state, inputs = over_field(variant, **sizes)
    tokens, width = inputs["k"].shape
    return state, inputs | {"k": np.stack([orthonormal(width, t)[0] for t in range(tokens)])}


def decayed(S, token):
    return np.exp(token["log_decay"])[:, None] * S if "log_decay" in token else S


def test_orthonormal_vectors_are_orthonormal():
    assert np.array_equal(orthonormal(4) @ orthonormal(4).T, np.eye(4, dtype=int))


@each(RULES)
@pytest.mark.parametrize(("beta", "found"), [(-0.5, "min -0.5"), (2.5, "max 2.5")])
def test_a_writing_strength_outside_of_0_and_2_is_refused(variant, beta, found):
    """delta_rule C1, gated_delta_rule C2, kda C2."""
    _, inputs = over_floats(variant)
    with pytest.raises(ValueError, match=rf"^beta must be in \[0, 2\]; got {found} at \[0, 0\]$"):
        prefill(variant, **inputs | {"beta": np.full_like(inputs["beta"], beta)})


@each(RULES)
def test_an_erase_with_a_unit_key_never_enlarges_the_state(variant):
    """delta_rule C1, gated_delta_rule C2, kda C2: without a write S^T S becomes S^T S - beta (2 - beta) r r^T for what
    the key retrieves, r, and that is not more exactly where 0 <= beta <= 2.
    """
    (S,), inputs = with_unit_keys(variant, T=1)
    token = forms.take(variant, inputs | {"v": 0 * inputs["v"]}, 0)
    (after,), _ = variant.step(S, **token)
    before = decayed(S, token)
    r, beta = read(token["k"], before), token["beta"]
    assert np.array_equal(transpose(after) @ after, transpose(before) @ before - beta * (2 - beta) * outer(r, r))


@each(GATED_DELTA)
def test_with_beta_0_the_state_only_decays(variant):
    """gated_delta_rule C3, kda C3; delta_rule C2 where there is no decay."""
    (S,), inputs = over_field(variant, T=1)
    token = forms.take(variant, inputs | {"beta": 0 * inputs["beta"]}, 0)
    (after,), _ = variant.step(S, **token)
    assert np.array_equal(after, decayed(S, token))


def test_with_beta_0_the_state_stays():
    """delta_rule C2."""
    state, inputs = over_field(variant("delta_rule"))
    final, _ = forms.parallel(variant("delta_rule"), state, inputs | {"beta": 0 * inputs["beta"]})
    assert np.array_equal(final[0], state[0])


@each(RULES)
def test_beta_1_with_a_unit_key_stores_the_value(variant):
    """delta_rule C3, gated_delta_rule C4, kda C4: at every token, whatever was stored before."""
    state, inputs = with_unit_keys(variant)
    inputs["beta"] = 1 + 0 * inputs["beta"]
    for t in range(SIZES["T"]):
        (S,), _ = forms.parallel(variant, state, forms.take(variant, inputs, slice(0, t + 1)))
        assert np.array_equal(read(inputs["k"][t], S), inputs["v"][t])


def test_orthonormal_keys_with_beta_1_replace_nothing():
    """delta_rule C4: linear attention, from the empty state."""
    state, inputs = over_field(variant("delta_rule"), T=3, K=3)
    state, inputs = tuple(x - x for x in state), inputs | {"k": orthonormal(3), "beta": 1 + 0 * inputs["beta"]}
    plain = {name: x for name, x in inputs.items() if name != "beta"}
    got = forms.chunkwise(variant("delta_rule"), state, inputs, 2)
    assert equal(got, forms.recurrent(variant("linear_attention"), state, plain))
