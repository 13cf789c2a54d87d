"""The short convolution: one sum in two ways, exactly, and a state with which it goes on anywhere."""

import random

import numpy as np
import pytest
from textbook import all_derivatives, all_digits

from linattn import conv
from linattn.numbers import field

WIDTHS = pytest.mark.parametrize("width", [1, 2, 4])


def over_field(width, T=7, D=3):
    rng = random.Random(width)
    shapes = {"state": (width - 1, D), "x": (T, D), "weight": (D, width), "bias": (D,)}
    return {name: field.draw(shape, "number", rng) for name, shape in shapes.items()}


def by_steps(state, x, weight, bias):
    outputs = []
    for token in x:
        state, y = conv.step(state, token, weight, bias)
        outputs.append(y)
    return state, np.array(outputs, dtype=x.dtype).reshape(x.shape)


@WIDTHS
def test_token_by_token_is_the_whole(width):
    arguments = over_field(width)
    for whole, single in zip(conv.prefill(**arguments), by_steps(**arguments), strict=True):
        assert np.array_equal(whole, single)


@WIDTHS
@pytest.mark.parametrize("cut", range(8))
def test_it_goes_on_from_its_state(width, cut):
    """Also after fewer tokens than the window holds, and after none."""
    arguments = over_field(width)
    x = arguments["x"]
    state, first = conv.prefill(**arguments | {"x": x[:cut]})
    final, second = conv.prefill(**arguments | {"x": x[cut:], "state": state})
    whole = conv.prefill(**arguments)
    assert np.array_equal(final, whole[0])
    assert np.array_equal(np.concatenate([first, second]), whole[1])


def test_the_last_weight_belongs_to_the_token_itself():
    """By hand, with numbers that tell taps, channels and tokens apart."""
    x = np.array([[1.0, 10], [2, 20], [3, 30]])
    weight = np.array([[100, 1000], [5, 7.0]])
    state = np.array([[4.0, 40]])
    final, y = conv.prefill(state, x, weight, np.array([0.5, 0.25]))
    assert np.array_equal(y[:, 0], [4 * 100 + 1000 + 0.5, 100 + 2000 + 0.5, 200 + 3000 + 0.5])
    assert np.array_equal(y[:, 1], [40 * 5 + 70 + 0.25, 50 + 140 + 0.25, 100 + 210 + 0.25])
    assert np.array_equal(final, x[-1:])


def test_it_is_the_convolution_of_numpy():
    rng = np.random.default_rng(0)
    x, weight = rng.normal(size=(9, 2)), rng.normal(size=(2, 4))
    _, y = conv.prefill(conv.initial_state(x, 4), x, weight)
    for channel in range(2):
        wanted = np.convolve(x[:, channel], weight[channel, ::-1])[:9]
        assert np.allclose(y[:, channel], wanted, rtol=1e-13, atol=1e-15)


def test_no_token_sees_a_later_one():
    arguments = over_field(4)
    other = arguments | {"x": np.concatenate([arguments["x"][:4], -arguments["x"][4:]])}
    assert np.array_equal(conv.prefill(**arguments)[1][:4], conv.prefill(**other)[1][:4])


def test_leading_axes_and_the_initial_state():
    x = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    weight = np.ones((3, 4), dtype=np.float32)
    start = conv.initial_state(x, 4)
    assert (start.shape, start.dtype) == ((2, 3, 3), np.float32)
    final, y = conv.prefill(start, x, weight, act="silu")
    assert (final.shape, y.shape, y.dtype) == ((2, 3, 3), (2, 5, 3), np.float32)
    assert np.array_equal(y[1], conv.prefill(start[1], x[1], weight, act="silu")[1])


def test_the_activation_comes_after_the_bias():
    """In both ways to compute it, to all digits and in all derivatives."""
    rng = np.random.default_rng(0)
    numbers = {"state": rng.normal(size=(2, 2)), "x": rng.normal(size=(1, 2)), "weight": rng.normal(size=(2, 3))}
    bias = np.array([0.5, -2.0])

    def formula(state, x, weight):
        window = np.concatenate([state, x])
        y = sum(weight[:, j] * window[j] for j in range(3)) + bias
        return y / (1 + np.exp(-y))

    def prefilled(state, x, weight):
        return conv.prefill(state, x, weight, bias, act="silu")[1][0]

    def stepped(state, x, weight):
        return conv.step(state, x[0], weight, bias, act="silu")[1]

    for function in (prefilled, stepped):
        assert all_digits(function, formula, numbers)
        assert all_derivatives(function, formula, numbers)


def test_a_state_of_another_width_is_refused():
    x = np.zeros((5, 3))
    with pytest.raises(ValueError, match=r"^state must end in \(3, 3\); got shape \(4, 3\)$"):
        conv.prefill(np.zeros((4, 3)), x, np.zeros((3, 4)))
