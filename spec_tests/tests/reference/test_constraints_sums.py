"""The constraints of the records of softmax, linear and normalised linear attention.

Over the finite field they are equalities; what they say about order is proven over balls.
"""

import numpy as np
import pytest
from drawing import each, equal, over_field, over_floats

from linattn import forms, prefill, variant
from linattn.numbers import field, lift
from linattn.numbers.ball import Ball

SOFTMAX = variant("softmax_attention")
LINEAR = variant("linear_attention")
NORMALISED = variant("normalised_linear_attention")
NO_EPS = {"eps": field.Number(0)}


def from_nothing(variant, **sizes):
    """Random inputs and the empty state."""
    state, inputs = over_field(variant, P=0, **sizes)
    return tuple(x - x for x in state), inputs | (NO_EPS if variant.has("eps") else {})


@each([SOFTMAX, NORMALISED])
def test_one_token_alone_returns_its_value(variant):
    """softmax_attention C1, normalised_linear_attention C1."""
    state, inputs = from_nothing(variant, T=1)
    _, output = forms.parallel(variant, state, inputs)
    assert np.array_equal(output, inputs["v"])


def test_one_token_alone_returns_its_value_where_the_weight_is_negative():
    """normalised_linear_attention C1: q.k = -2 and a power of two, so that float64 is exact."""
    output, _ = prefill(NORMALISED, q=np.array([[1.0, 0]]), k=np.array([[-2.0, 5]]), v=np.array([[3.0, -7]]))
    assert output.tolist() == [[3.0, -7.0]]


def test_one_token_of_linear_attention():
    """linear_attention C1: scale (q.k) v."""
    state, inputs = from_nothing(LINEAR, T=1)
    _, output = forms.parallel(LINEAR, state, inputs)
    assert np.array_equal(output, inputs["scale"] * (inputs["q"] @ inputs["k"].T) @ inputs["v"])


def test_linear_attention_is_linear_in_values_and_state():
    """linear_attention C2."""
    (S, inputs), (other_S, other) = over_field(LINEAR, "one"), over_field(LINEAR, "two")
    a, b = field.Number(3), field.Number(-5)
    (one,), o1 = forms.recurrent(LINEAR, S, inputs)
    (two,), o2 = forms.recurrent(LINEAR, other_S, inputs | {"v": other["v"]})
    both = inputs | {"v": a * inputs["v"] + b * other["v"]}
    got = forms.chunkwise(LINEAR, (a * S[0] + b * other_S[0],), both, 3)
    assert equal(got, ((a * one + b * two,), a * o1 + b * o2))


def test_the_final_state_of_linear_attention_does_not_depend_on_the_order():
    """linear_attention C3."""
    state, inputs = over_field(LINEAR)
    order = [3, 1, 6, 0, 2, 5, 4]
    turned = {name: x[order] if name != "scale" else x for name, x in inputs.items()}
    (final,), output = forms.recurrent(LINEAR, state, inputs)
    (other,), other_output = forms.recurrent(LINEAR, state, turned)
    assert np.array_equal(other, final)
    assert not np.array_equal(other_output, output[order])


def inside_the_hull(output, values_seen):
    """No direction separates an output from the values: proven over balls for some random directions."""
    directions = lift(Ball, {"d": np.random.default_rng(0).normal(size=(output.shape[-1], 8))})["d"]
    for t, o in enumerate(output):
        at, seen = o @ directions, values_seen(t) @ directions
        if len(seen) > 1 and not all(min(seen[:, d]) < at[d] < max(seen[:, d]) for d in range(8)):
            return False
    return True


def test_softmax_stays_in_the_hull_of_the_values():
    """softmax_attention C2."""
    state, inputs = over_floats(SOFTMAX)
    keys, values = (lift(Ball, {"x": x})["x"] for x in state)
    balls = lift(Ball, inputs)
    (_, seen), output = forms.recurrent(SOFTMAX, (keys, values), balls)
    assert inside_the_hull(output, lambda t: seen[: len(values) + t + 1])
    assert not inside_the_hull(2 * output, lambda t: seen[: len(values) + t + 1])


def test_non_negative_features_stay_in_the_hull_of_the_values():
    """normalised_linear_attention C2."""
    (S, z), inputs = over_floats(NORMALISED)
    balls = lift(Ball, inputs | {"eps": 0.0})
    _, output = forms.recurrent(NORMALISED, (0 * S, 0 * z), balls)
    assert inside_the_hull(output, lambda t: balls["v"][: t + 1])


def test_a_constant_added_to_the_scores_of_a_query_changes_nothing():
    """softmax_attention C3: one more channel, with 1 in all keys and anything in the queries."""
    (keys, values), inputs = over_field(SOFTMAX)
    ones = np.full((len(keys) + len(inputs["k"]), 1), field.Log(1))
    constants = over_field(SOFTMAX, "constants")[1]["q"][:, :1]
    more = {
        "q": np.concatenate([inputs["q"], constants], axis=1),
        "k": np.concatenate([inputs["k"], ones[len(keys) :]], axis=1),
    }
    _, want = forms.recurrent(SOFTMAX, (keys, values), inputs)
    start = (np.concatenate([keys, ones[: len(keys)]], axis=1), values)
    _, got = forms.parallel(SOFTMAX, start, inputs | more)
    assert np.array_equal(got, want)


def test_equal_scores_give_the_running_mean():
    """softmax_attention C4: with queries of 0 all scores are 0."""
    (keys, values), inputs = over_field(SOFTMAX)
    _, output = forms.parallel(SOFTMAX, (keys, values), inputs | {"q": 0 * inputs["q"]})
    seen = np.concatenate([values, inputs["v"]])
    counts = [len(values) + t + 1 for t in range(len(output))]
    assert np.array_equal(output, [seen[:n].sum(axis=0) / n for n in counts])


@pytest.mark.parametrize("name", ["q", "k"])
def test_a_common_factor_cancels(name):
    """normalised_linear_attention C3: on the queries, and on all keys."""
    state, inputs = from_nothing(NORMALISED)
    _, want = forms.recurrent(NORMALISED, state, inputs)
    _, got = forms.recurrent(NORMALISED, state, inputs | {name: field.Number(7) * inputs[name]})
    assert np.array_equal(got, want)
