"""One variant is another one in a special case: exactly, over the finite field."""

import numpy as np
import pytest
from drawing import SIZES, equal, over_field

from linattn import forms, variant
from linattn.numbers import field

T, K, V, P = (SIZES[axis] for axis in "TKVP")


def no_decay(*shape):
    return np.full(shape, field.Log(0), dtype=object)


def channels(log_decay):
    """The same decay in every channel."""
    return np.repeat(log_decay, K, axis=-1)


def drop(inputs, *names):
    return {name: x for name, x in inputs.items() if name not in names}


# (general, special): how the inputs of the special variant become those of the general one
SAME_IN_A_SPECIAL_CASE = {
    ("retention", "linear_attention"): lambda x: x | {"log_decay": no_decay(1)},
    ("simple_gla", "linear_attention"): lambda x: x | {"log_decay": no_decay(T, 1)},
    ("simple_gla", "retention"): lambda x: x | {"log_decay": np.repeat(x["log_decay"][None], T, axis=0)},
    ("gla", "linear_attention"): lambda x: x | {"log_decay": no_decay(T, K)},
    ("gla", "simple_gla"): lambda x: x | {"log_decay": channels(x["log_decay"])},
    ("gated_delta_rule", "delta_rule"): lambda x: x | {"log_decay": no_decay(T, 1)},
    ("kda", "delta_rule"): lambda x: x | {"log_decay": no_decay(T, K)},
    ("kda", "gated_delta_rule"): lambda x: x | {"log_decay": channels(x["log_decay"])},
}
SAME_DECAY = [("delta_rule", "linear_attention"), ("gated_delta_rule", "simple_gla"), ("kda", "gla")]


@pytest.mark.parametrize(("general", "special"), SAME_IN_A_SPECIAL_CASE)
def test_a_special_case(general, special):
    """gla C2, simple_gla C2, retention C2, gated_delta_rule C1, kda C1."""
    state, inputs = over_field(variant(special))
    got = forms.chunkwise(variant(general), state, SAME_IN_A_SPECIAL_CASE[general, special](inputs), 3)
    assert equal(got, forms.recurrent(variant(special), state, inputs))


@pytest.mark.parametrize(("rule", "plain"), SAME_DECAY)
def test_with_beta_0_nothing_is_written_or_erased(rule, plain):
    """delta_rule C2, gated_delta_rule C3, kda C3: the same decay with values 0."""
    state, inputs = over_field(variant(rule))
    inputs["beta"] = 0 * inputs["beta"]
    without = drop(inputs, "beta") | {"v": 0 * inputs["v"]}
    assert equal(forms.chunkwise(variant(rule), state, inputs, 3), forms.recurrent(variant(plain), state, without))


def one_hot_attention(state, inputs):
    """Softmax attention as normalised linear attention: keys are one-hot, a query is the vector of its weights."""
    keys, values = state
    every_key = np.concatenate([keys, inputs["k"]])
    k = np.array([[field.Number(int(p == t)) for p in range(P + T)] for t in range(P, P + T)])
    q = np.exp(inputs["scale"] * (inputs["q"] @ every_key.T))
    past = np.array([field.Number(int(p < P)) for p in range(P + T)])
    return (np.concatenate([values, 0 * inputs["v"]]), past), {"q": q, "k": k, "v": inputs["v"], "eps": field.Number(0)}


def test_softmax_attention_is_linear_attention_over_the_exponential_kernel():
    softmax = variant("softmax_attention")
    state, inputs = over_field(softmax)
    _, want = forms.recurrent(softmax, state, inputs)
    _, got = forms.recurrent(variant("normalised_linear_attention"), *one_hot_attention(state, inputs))
    assert np.array_equal(got, want)


def test_the_normaliser_is_one_more_value_column_of_ones():
    """normalised_linear_attention C4."""
    (S, z), inputs = over_field(variant("normalised_linear_attention"))
    ones = np.full((T, 1), field.Number(1))
    wide = drop(inputs, "eps") | {"v": np.concatenate([inputs["v"], ones], axis=-1), "scale": field.Number(1)}
    start = (np.concatenate([S, z[:, None]], axis=-1),)
    (final,), both = forms.chunkwise(variant("linear_attention"), start, wide, 3)
    got = (final[:, :V], final[:, V]), both[:, :V] / (both[:, V:] + inputs["eps"])
    assert equal(got, forms.recurrent(variant("normalised_linear_attention"), (S, z), inputs))
