"""What stands around the recurrence and inside its kernels: gates from projections, attention with an exact kernel."""

import numpy as np
import pytest
from delta_and_softmax import ROUTES, certify_alike, gradients_agree, keeps_the_precision
from drawing import agree, close, each, equal, over_field, over_floats

from linattn import decode, forms, prefill
from linattn.features.kernels import gaussian
from linattn.features.kernels import kernel_attention as quadratic
from linattn.gates import softplus_gate
from linattn.numbers import field
from linattn.variants import (
    delta_rule,
    gated_delta_rule,
    kernel_attention,
    short_convolution,
    sigmoid_gating_delta_rule,
    softmax_attention,
)

GATING, KERNEL, CONVOLUTION = (
    module.VARIANT for module in (sigmoid_gating_delta_rule, kernel_attention, short_convolution)
)
AROUND = (GATING, KERNEL, CONVOLUTION)
EACH = each(AROUND)
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)


@EACH
@pytest.mark.parametrize("sizes", [{}, {"T": 2}, {"W": 1}], ids=str)
def test_all_routes_agree_exactly(variant, sizes):
    assert agree(variant, over_field(variant, **sizes))


@EACH
def test_the_routes_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@EACH
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)


@EACH
@EACH_ROUTE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, route, dtype):
    keeps_the_precision(variant, route, dtype)


@EACH
def test_the_public_functions_run_it(variant):
    """Batches and heads, parameters per head, and one token after a sequence."""
    state, x = over_floats(variant, leading=(2, 3))
    timed = {item.name for item in variant.inputs if item.time is not None}
    x = {name: part if name in timed or not np.ndim(part) else part[0] for name, part in x.items()}
    output, final = prefill(variant, initial_state=state, **x)
    _, before = prefill(variant, initial_state=state, form="recurrent", **forms.take(variant, x, slice(0, 6)))
    last, after = decode(variant, initial_state=before, **forms.take(variant, x, 6))
    assert close(last, output[:, :, 6])
    assert all(close(a, b) for a, b in zip(after, final, strict=True))


# -- gates from projections --------------------------------------------------------------------------------------------


def gates(a, b, A_log, dt_bias, **x):
    """What the gated delta rule takes, written in another way: softplus is log(1 + exp(x)), where that has digits."""
    rate = np.exp(A_log)[..., None, :]
    softplus = np.logaddexp(0, a + dt_bias[..., None, :])
    return x | {"log_decay": -rate * softplus, "beta": np.exp(b) / (1 + np.exp(b))}


@EACH_ROUTE
def test_gating_is_the_gated_delta_rule(route):
    """sigmoid_gating_delta_rule C1: exactly, whatever functions softplus, exp and sigmoid are."""
    state, x = over_field(GATING)
    a, b, A_log, dt_bias = (x[name] for name in ("a", "b", "A_log", "dt_bias"))
    given = {name: x[name] for name in ("q", "k", "v", "scale")}
    given |= {"log_decay": softplus_gate(a, A_log[None], dt_bias[None]), "beta": sigmoid_gating_delta_rule.sigmoid(b)}
    assert equal(route(gated_delta_rule.VARIANT, state, given), forms.recurrent(GATING, state, x))


@pytest.mark.parametrize("shift", [0, 4, -12])
def test_gating_with_its_gates_written_out(shift):
    """sigmoid_gating_delta_rule C1, in floats."""
    state, x = over_floats(GATING, leading=(2,))
    x["a"] = x["a"] + shift
    (got,), output = forms.chunkwise(GATING, state, x, 3)
    (want,), expected = forms.recurrent(gated_delta_rule.VARIANT, state, gates(**x))
    assert close(got, want)
    assert close(output, expected)


def test_gating_takes_the_sum_of_projection_and_bias():
    """sigmoid_gating_delta_rule C2."""
    state, x = over_field(GATING)
    shift = field.Number(12345)
    moved = x | {"a": x["a"] + shift, "dt_bias": x["dt_bias"] - shift}
    assert equal(forms.recurrent(GATING, state, moved), forms.recurrent(GATING, state, x))


def test_gating_far_below_is_the_delta_rule():
    """sigmoid_gating_delta_rule C3: exactly, in every format that holds the neutral value."""
    state, x = over_floats(GATING)
    x["a"] = np.full_like(x["a"], GATING.input("a").neutral)
    given = {name: x[name] for name in ("q", "k", "v", "scale")} | {"beta": sigmoid_gating_delta_rule.sigmoid(x["b"])}
    assert equal(forms.recurrent(GATING, state, x), forms.recurrent(delta_rule.VARIANT, state, given))


def decay(A_log, a):
    """What one token leaves of a state of 1: its key is 0."""
    nothing = {"q": np.zeros(1), "k": np.zeros(1), "v": np.zeros(1), "b": np.zeros(1), "dt_bias": np.array([1.0])}
    (S,), _ = GATING.step(np.ones((1, 1)), **nothing, a=np.array([a]), A_log=np.array([A_log]), scale=1)
    return S.item()


def test_gating_far_above_is_linear():
    """sigmoid_gating_delta_rule C3: softplus(x) = x in float64 from 37 on."""
    assert decay(-5.0, 99.0) == pytest.approx(np.exp(-100 * np.exp(-5.0)), rel=1e-13)


def test_the_log_of_2_more_squares_the_decay():
    """sigmoid_gating_delta_rule C4."""
    assert decay(-1 + np.log(2), 0.5) == pytest.approx(decay(-1.0, 0.5) ** 2, rel=1e-14)


def test_b_of_0_writes_half_and_no_component_changes_its_sign():
    """sigmoid_gating_delta_rule C5: what a unit key retrieves shrinks by 1 - beta, at the ends by nothing, or to 0."""
    far = sigmoid_gating_delta_rule.FAR
    retrieved = []
    for b in (-far, 0.0, far):
        x = {"q": np.ones(1), "k": np.ones(1), "v": np.zeros(1), "a": np.array([-far]), "b": np.array([b])}
        x |= {"A_log": np.zeros(1), "dt_bias": np.zeros(1)}
        retrieved.append(GATING.step(np.full((1, 1), 8.0), **x, scale=1)[1].item())
    assert retrieved == [8, 4, 0]


# -- the Gaussian kernel -----------------------------------------------------------------------------------------------


@EACH_ROUTE
def test_gamma_of_0_is_the_running_mean(route):
    """kernel_attention C1."""
    (keys, values), x = over_field(KERNEL)
    _, output = route(KERNEL, (keys, values), x | {"gamma": field.Log(0)})
    seen = np.concatenate([values, x["v"]])
    means = [seen[: len(values) + t + 1].sum(axis=0) / (len(values) + t + 1) for t in range(len(x["v"]))]
    assert np.array_equal(output, np.stack(means))


def test_the_output_lies_among_the_values():
    """kernel_attention C2: each output is a mean with non-negative weights."""
    (keys, values), x = over_floats(KERNEL)
    _, output = forms.parallel(KERNEL, (keys, values), x)
    for t in range(len(output)):
        seen = np.concatenate([values, x["v"][: t + 1]])
        assert (seen.min(axis=0) <= output[t]).all()
        assert (output[t] <= seen.max(axis=0)).all()


@EACH_ROUTE
def test_a_vector_added_to_all_queries_and_keys_changes_nothing(route):
    """kernel_attention C3."""
    (keys, values), x = over_field(KERNEL)
    shift = x["q"][0]
    moved = x | {"q": x["q"] + shift, "k": x["k"] + shift}
    _, output = route(KERNEL, (keys + shift, values), moved)
    assert np.array_equal(output, forms.recurrent(KERNEL, (keys, values), x)[1])


@EACH_ROUTE
def test_with_keys_of_one_length_it_is_softmax_attention(route):
    """kernel_attention C4: here all entries of the keys are one number or its negative."""
    (keys, values), x = over_field(KERNEL)
    signs = np.where(np.random.default_rng(0).uniform(size=(len(keys) + len(x["k"]), keys.shape[-1])) < 0.5, 1, -1)
    keys, k = np.split(signs * x["k"][0, 0], [len(keys)])
    softmax = {"q": x["q"], "k": k, "v": x["v"], "scale": 2 * x["gamma"]}
    want = forms.recurrent(softmax_attention.VARIANT, (keys, values), softmax)
    assert equal(route(KERNEL, (keys, values), x | {"k": k}), want)


@pytest.mark.parametrize("sigma", [0.5, 3.0])
def test_it_is_the_quadratic_sum_with_the_kernel_of_the_features(sigma):
    """Without a cache, gamma = 1 / (2 sigma^2)."""
    (keys, values), x = over_floats(KERNEL)
    _, output = forms.parallel(KERNEL, (keys[:0], values[:0]), x | {"gamma": 1 / (2 * sigma**2)})
    assert close(output, quadratic(x["q"], x["k"], x["v"], lambda q, k: gaussian(q, k, sigma)))


def test_far_from_all_keys_the_weights_are_relative():
    """The kernel itself is 0 there, and 0 / 0 no number; kernel_attention C5: lengths of keys and queries cancel."""
    (keys, values), x = over_floats(KERNEL)
    for route in ROUTES.values():
        _, output = route(KERNEL, (keys[:0], values[:0]), x | {"q": x["q"] + 100, "gamma": 1.0})
        assert np.isfinite(output).all()
        assert close(output[0], x["v"][0])
