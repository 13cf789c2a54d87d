"""The short convolution: by hand, against NumPy, and its window."""

import numpy as np
import pytest
from drawing import close, equal, over_field, over_floats

from linattn import forms, prefill
from linattn.activations import silu
from linattn.variants import linear_recurrence
from linattn.variants.short_convolution import VARIANT

WIDTHS = pytest.mark.parametrize("width", [1, 2, 4])


def test_the_last_weight_belongs_to_the_token_itself():
    """By hand, with numbers that tell taps, channels and tokens apart."""
    x = np.array([[1.0, 10], [2, 20], [3, 30]])
    inputs = {"x": x, "weight": np.array([[100, 1000], [5, 7.0]]), "bias": np.array([0.5, 0.25])}
    window = np.array([[99.0, 4], [99, 40]])
    for form in VARIANT.forms:
        (final,), y = forms.run(VARIANT, form, (window,), inputs, 2)
        assert np.array_equal(y[:, 0], [4 * 100 + 1000 + 0.5, 100 + 2000 + 0.5, 200 + 3000 + 0.5])
        assert np.array_equal(y[:, 1], [40 * 5 + 70 + 0.25, 50 + 140 + 0.25, 100 + 210 + 0.25])
        assert np.array_equal(final, x[1:].T)


@WIDTHS
def test_it_is_the_convolution_of_numpy(width):
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(9, 2)), rng.normal(size=(2, width))
    _, y = forms.parallel(VARIANT, (np.zeros((2, width)),), {"x": x, "weight": weight, "bias": np.zeros(2)})
    for channel in range(2):
        wanted = np.convolve(x[:, channel], weight[channel, ::-1])[:9]
        assert np.allclose(y[:, channel], wanted, rtol=1e-13, atol=1e-15)


@WIDTHS
@pytest.mark.parametrize("t", [0, 3, 6])
def test_a_token_is_seen_by_itself_and_the_tokens_behind_it(width, t):
    """short_convolution C1."""
    state, inputs = over_field(VARIANT, W=width)
    x = inputs["x"]
    other = inputs | {"x": np.concatenate([x[:t], -x[t : t + 1], x[t + 1 :]])}
    same = (forms.parallel(VARIANT, state, other)[1] == forms.parallel(VARIANT, state, inputs)[1]).all(axis=-1)
    assert np.flatnonzero(~same).tolist() == list(range(t, min(7, t + width)))


@WIDTHS
@pytest.mark.parametrize("form", VARIANT.forms)
def test_the_first_column_of_the_window_is_not_read(width, form):
    """short_convolution C2. After as many tokens as the window holds nothing is left of it."""
    (window,), inputs = over_field(VARIANT, W=width)
    other = np.concatenate([-window[:, :1], window[:, 1:]], axis=-1)
    assert equal(forms.run(VARIANT, form, (other,), inputs), forms.run(VARIANT, form, (window,), inputs))


def test_one_weight_is_a_factor():
    """short_convolution C3."""
    state, inputs = over_field(VARIANT, W=1)
    _, y = forms.recurrent(VARIANT, state, inputs)
    assert np.array_equal(y, inputs["weight"][:, 0] * inputs["x"] + inputs["bias"])


@pytest.mark.parametrize("tokens", range(7))
def test_the_window_holds_the_last_inputs(tokens):
    """short_convolution C4: after fewer tokens than it holds, older ones too."""
    (window,), inputs = over_field(VARIANT)
    x = inputs["x"][:tokens]
    for form in VARIANT.forms:
        (final,), _ = forms.run(VARIANT, form, (window,), inputs | {"x": x}, 2)
        assert np.array_equal(final, np.concatenate([window, x.T], axis=-1)[:, -4:])


def test_a_token_of_zeros_moves_the_window():
    """short_convolution C5."""
    (window,), inputs = over_field(VARIANT)
    (final,), _ = VARIANT.step(window, 0 * inputs["x"][0], inputs["weight"], inputs["bias"])
    assert np.array_equal(final[:, :-1], window[:, 1:])
    assert (final[:, -1] == 0).all()


def test_weights_of_1_are_a_moving_sum():
    """short_convolution C6: with a window longer than the sequence the linear recurrence without decay."""
    (window,), inputs = over_field(VARIANT, W=7)
    given = {"x": inputs["x"], "weight": np.ones((5, 7), dtype=int), "bias": np.zeros(5, dtype=int)}
    _, y = forms.parallel(VARIANT, (0 * window,), given)
    start = (0 * window[:, 0],)
    sums = forms.recurrent(linear_recurrence.VARIANT, start, {"x": inputs["x"], "log_decay": np.zeros((7, 5))})[1]
    assert np.array_equal(y, sums)


def test_heads_have_weights_of_their_own():
    (window,), inputs = over_floats(VARIANT, leading=(2, 3))
    inputs |= {name: inputs[name][0] for name in ("weight", "bias")}
    output, (final,) = prefill(VARIANT, initial_state=window, **inputs)
    assert (output.shape, final.shape) == ((2, 3, 7, 5), (2, 3, 5, 4))
    alone = {"x": inputs["x"][1, 2], "weight": inputs["weight"][2], "bias": inputs["bias"][2]}
    assert np.array_equal(output[1, 2], prefill(VARIANT, initial_state=window[1, 2], **alone)[0])


def test_the_activation_comes_after():
    """As kernels have it inside."""
    (window,), inputs = over_floats(VARIANT)
    output, _ = prefill(VARIANT, initial_state=window, **inputs)
    seen = np.concatenate([window[:, 1:], inputs["x"].T], axis=-1)
    for t in range(7):
        y = (seen[:, t : t + 4] * inputs["weight"]).sum(axis=-1) + inputs["bias"]
        assert close(silu(output[t]), y / (1 + np.exp(-y)))


def test_a_window_of_another_width_is_refused():
    _, inputs = over_floats(VARIANT)
    with pytest.raises(ValueError, match=r"^initial_state window must have shape \(\.\.\., D=5, W=4\); got \(5, 3\)$"):
        prefill(VARIANT, initial_state=np.zeros((5, 3)), **inputs)
