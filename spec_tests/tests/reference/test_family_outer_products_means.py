"""The constraints of the records of the weighted means among the variants that write outer products.

Over the finite field they are equalities; what they say about order is proven over balls.
"""

import numpy as np
import pytest
from drawing import close, each, over_field, over_floats
from outer_products import BY_NAME, empty, functions_of_numbers  # noqa: F401
from test_constraints_sums import inside_the_hull

from linattn import forms
from linattn.features import symmetric_power
from linattn.numbers import field, lift
from linattn.numbers.ball import Ball
from linattn.rotary import cosformer_angle
from linattn.variants import cosformer

MEANS = [BY_NAME[name] for name in ("gated_rfa", "power_attention", "cosformer")]


def from_nothing(variant, **sizes):
    """Random inputs and the empty state; no eps."""
    state, inputs = over_field(variant, **sizes)
    return empty(state), inputs | {"eps": field.Number(0)}


def test_a_gate_of_one_leaves_the_state_of_gated_rfa():
    """gated_rfa C1."""
    rfa = BY_NAME["gated_rfa"]
    state, inputs = over_field(rfa, T=1)
    final, _ = forms.parallel(rfa, state, inputs | {"log_decay": np.full((1, 1), field.Log(0), dtype=object)})
    assert all(np.array_equal(x, y) for x, y in zip(final, state, strict=True))


@each(MEANS)
def test_one_value_throughout_is_returned(variant):
    """gated_rfa C2; power_attention C2, cosformer C1 at their first token; gated_rfa C4 where it has just forgotten."""
    state, inputs = from_nothing(variant)
    if variant.has("log_decay"):
        inputs["log_decay"][0] = field.Log(None)
    same = np.broadcast_to(inputs["v"][0], inputs["v"].shape)
    _, output = forms.chunkwise(variant, state, inputs | {"v": same}, 3)
    assert np.array_equal(output, same)
    assert np.array_equal(forms.parallel(variant, state, inputs)[1][0], same[0])


@each(MEANS)
def test_a_mean_stays_in_the_hull_of_the_values(variant):
    """gated_rfa C3, power_attention C3, cosformer C4."""
    state, inputs = over_floats(variant, T=6)
    finite = {"log_decay": -np.abs(np.random.default_rng(0).normal(size=(6, 1))), "angle": cosformer_angle(6)}
    signs = {"q": -inputs["q"]} if variant.name == "power_attention" else {}
    inputs |= {name: x for name, x in finite.items() if name in inputs} | signs | {"eps": np.array(0.0)}
    balls = lift(Ball, inputs)
    _, output = forms.recurrent(variant, tuple(lift(Ball, {"x": 0 * x})["x"] for x in state), balls)
    assert inside_the_hull(output, lambda t: balls["v"][: t + 1])


@pytest.mark.parametrize(("name", "factor"), [("q", 7), ("k", 7), ("q", -1), ("k", -1)])
def test_a_common_factor_of_power_attention_cancels(name, factor):
    """power_attention C4."""
    power = BY_NAME["power_attention"]
    state, inputs = from_nothing(power)
    _, got = forms.recurrent(power, state, inputs | {name: factor * inputs[name]})
    assert np.array_equal(got, forms.recurrent(power, state, inputs)[1])


@pytest.mark.parametrize("degree", [2, 4])
def test_the_symmetric_power_is_a_power_of_the_inner_product(degree):
    """In exact arithmetic; here up to the rounding of its square roots."""
    x, y = np.random.default_rng(0).normal(size=(2, 3, 4))
    features = [symmetric_power(z, degree) for z in (x, y)]
    assert features[0].shape == (3, {2: 10, 4: 35}[degree])
    assert close(features[0] @ features[1].T, (x @ y.T) ** degree)


def test_the_position_at_the_start_changes_no_output_of_cosformer():
    """cosformer C5: only differences of angles count."""
    state, inputs = over_field(cosformer.VARIANT)
    _, want = forms.recurrent(cosformer.VARIANT, empty(state), inputs)
    for position in (-3, 17):
        start = (*empty(state[:4]), np.array([position], dtype=object))
        assert np.array_equal(forms.parallel(cosformer.VARIANT, start, inputs)[1], want)
