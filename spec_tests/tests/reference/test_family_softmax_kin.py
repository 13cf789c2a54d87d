"""The constraints of the records of Wall attention, Parallax and stick-breaking attention."""

import numpy as np
import pytest
from delta_and_softmax import SOFTMAX, in_field, inside
from drawing import close

from linattn import forms
from linattn.numbers import field
from linattn.variants import gla, softmax_attention

*_, WALL, PARALLAX, STICK = SOFTMAX
PLAIN = softmax_attention.VARIANT


def from_nothing(variant, x):
    return forms.parallel(variant, (x["k"][:0], x["v"][:0]), x)[1]


@pytest.mark.parametrize("t", [0, 3, 6])
def test_what_has_decayed_to_nothing_keeps_the_weight_of_a_score_of_0(t):
    """wall C2: as if the earlier keys were 0."""
    state, x = in_field(WALL)
    x["log_decay"][t] = np.array([field.Log(None)] * 5, dtype=object)
    later = forms.take(WALL, x, slice(t, None))
    middle, _ = forms.parallel(WALL, state, forms.take(WALL, x, slice(0, t)))
    zeros = (0 * middle[0], middle[1])
    assert np.array_equal(forms.parallel(WALL, state, x)[1][t:], forms.recurrent(WALL, zeros, later)[1])


def test_equal_scores_of_decayed_keys_give_the_mean_of_all_values():
    """wall C2, in numbers: forgetting attention would give the last value alone."""
    _, x = inside(WALL)
    x["log_decay"][6], x["k"][6] = -np.inf, 0
    assert close(from_nothing(WALL, x)[6], x["v"].mean(axis=0))


def test_the_scores_of_wall_are_those_of_gated_linear_attention():
    """wall C4: as a memory with a value channel for every key."""
    _, x = inside(WALL)
    inputs = {name: x[name] for name in ("q", "k", "log_decay", "scale")} | {"v": np.eye(7)}
    scores = forms.recurrent(gla.VARIANT, (np.zeros((5, 7)),), inputs)[1]
    weights = np.exp(scores) * np.tri(7)
    assert close(from_nothing(WALL, x), weights @ x["v"] / weights.sum(axis=-1, keepdims=True))


def test_the_output_of_wall_lies_in_the_convex_hull_of_the_values():
    """wall C3."""
    _, x = inside(WALL)
    for t, got in enumerate(from_nothing(WALL, x)):
        seen = x["v"][: t + 1]
        assert np.all((seen.min(axis=0) - 1e-12 <= got) & (got <= seen.max(axis=0) + 1e-12))


def test_the_first_value_comes_back_whatever_the_slope():
    """parallax C2."""
    _, x = inside(PARALLAX)
    assert np.array_equal(from_nothing(PARALLAX, x)[0], x["v"][0])


def test_the_weights_add_up_to_1_and_may_be_negative():
    """parallax C3: read off by one-hot values."""
    _, x = inside(PARALLAX)
    weights = from_nothing(PARALLAX, x | {"v": np.eye(7), "r": 9 * x["r"]})
    assert close(weights.sum(axis=-1), np.ones(7))
    assert weights.min() < 0
    assert weights.max() > 1


def test_the_place_of_the_keys_and_the_level_of_the_values_do_not_matter():
    """parallax C4."""
    _, x = inside(PARALLAX)
    assert close(from_nothing(PARALLAX, x | {"k": x["k"] + 3}), from_nothing(PARALLAX, x))
    assert close(from_nothing(PARALLAX, x | {"v": x["v"] + 3}), from_nothing(PARALLAX, x) + 3)


def test_the_correction_is_a_derivative_of_softmax_attention():
    """parallax C5: by a complex step of the query along r / scale."""
    _, x = inside(PARALLAX)
    plain = {name: x[name] for name in ("k", "v", "scale")}
    step = 1e-30
    moved = from_nothing(PLAIN, plain | {"q": x["q"] + 1j * step * x["r"] / x["scale"]})
    assert close(from_nothing(PARALLAX, x), from_nothing(PLAIN, plain | {"q": x["q"]}) - moved.imag / step)


def test_the_output_of_a_stick_lies_between_0_and_the_values_before():
    """stick_breaking C2."""
    _, x = inside(STICK)
    got = from_nothing(STICK, x)
    assert np.array_equal(got[0], 0 * got[0])
    for t in range(1, 7):
        seen = np.concatenate([0 * x["v"][:1], x["v"][:t]])
        assert np.all((seen.min(axis=0) - 1e-12 <= got[t]) & (got[t] <= seen.max(axis=0) + 1e-12))


def test_scores_of_0_halve_the_stick():
    """stick_breaking C3."""
    _, x = inside(STICK)
    got = from_nothing(STICK, x | {"q": 0 * x["q"]})
    assert close(got[6], 2.0 ** -np.arange(6, 0, -1.0) @ x["v"][:6])


@pytest.mark.parametrize("form", ["recurrent", "parallel"])
def test_far_scores_take_all_or_nothing(form):
    """stick_breaking C4: of keys so long that the exponentials of their scores overflow."""
    _, x = inside(STICK)
    x |= {"q": np.eye(1, 5) + 0 * x["q"], "scale": np.asarray(1.0)}
    x["k"][2, 0], x["k"][3, 0] = 1e4, -1e4
    got = forms.run(STICK, form, (x["k"][:0], x["v"][:0]), x)[1]
    assert np.array_equal(got[3], x["v"][2])
    assert np.array_equal(got[4], x["v"][2])
    later = {name: x[name][2:] if np.ndim(x[name]) else x[name] for name in x}
    assert close(got[5:], forms.run(STICK, form, (later["k"][:0], later["v"][:0]), later)[1][3:])


def test_what_is_left_goes_to_values_of_1():
    """What values of 1 lack is the product of all that the keys leave."""
    _, x = inside(STICK)
    got = from_nothing(STICK, x | {"v": np.ones((7, 1))})[6, 0]
    assert close(1 - got, np.prod(1 / (1 + np.exp(x["scale"] * x["k"][:6] @ x["q"][6]))))


def test_with_its_own_token_it_is_the_query_of_the_next():
    """The option ``attend_current``, from the next token's place."""
    _, x = inside(STICK)
    scores = x["scale"] * x["k"] @ x["q"][3]
    left = 1 / (1 + np.exp(scores[:4]))
    shares = (1 - left) * np.append(np.cumprod(left[:0:-1])[::-1], 1)
    moved = x | {"q": np.concatenate([x["q"][:1], x["q"][:-1]])}
    assert close(from_nothing(STICK, moved)[4], shares @ x["v"][:4])
