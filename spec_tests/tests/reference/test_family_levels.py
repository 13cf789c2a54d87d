"""Memories for each power of two of the past: all routes agree, constraints hold."""

import numpy as np
import pytest
from drawing import agree, close, each, equal
from memories import (
    LEVELS,
    certify_alike,
    each_way,
    empty,
    empty_in_field,
    functions_of_numbers,  # noqa: F401
    gradients_agree,
    in_field,
    inside,
    keeps_the_precision,
    log_of_zero,  # noqa: F401
    pairs,
)

from linattn import forms, prefill
from linattn.numbers import field

EACH = each(LEVELS)
SIMPLE, DELTA = LEVELS


@EACH
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_all_routes_agree_exactly(variant, levels):
    """For any numbers in place of the ones and zeros of ``taken``."""
    assert agree(variant, in_field(variant, L=levels))


@EACH
def test_the_forms_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@each_way(LEVELS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, route, dtype):
    keeps_the_precision(variant, route, dtype)


@EACH
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)


@pytest.mark.parametrize("cut", [0, 3, 8, 20])
def test_a_token_is_in_the_level_of_the_highest_differing_bit(cut):
    """log_linear_simple_gla C5: by plain sums, and after a resumption."""
    state, x = inside(SIMPLE, T=20, L=6)
    x["log_decay"] = -np.abs(np.where(np.isfinite(x["log_decay"]), x["log_decay"], 0.5))
    middle, first = forms.parallel(SIMPLE, empty(SIMPLE, state), forms.take(SIMPLE, x, slice(0, cut)))
    _, second = forms.parallel(SIMPLE, middle, forms.take(SIMPLE, x, slice(cut, None)))
    output = np.concatenate([first, second])
    for t in range(20):
        want = sum(
            x["level_scale"][t, (s ^ t).bit_length()]
            * np.exp(x["log_decay"][s + 1 : t + 1].sum())
            * (x["q"][t] @ x["k"][s])
            * x["v"][s]
            for s in range(t + 1)
        )
        assert close(output[t], x["scale"] * want)


@EACH
@pytest.mark.parametrize("tokens", range(1, 10))
def test_the_levels_count_in_binary(variant, tokens):
    state, x = in_field(variant, L=6, T=tokens)
    (_, taken), _ = forms.parallel(variant, empty_in_field(variant, state), x)
    assert [int(bit.value) for bit in taken] == [1, *(tokens - 1 >> bit & 1 for bit in range(5))]


def test_the_last_level_takes_whatever_is_more():
    """log_linear_simple_gla C1: with too few levels the sum over the levels stays that of simple GLA."""
    state, x = in_field(SIMPLE, L=2)
    x["level_scale"] = 0 * x["level_scale"] + 1
    wide = x | {"level_scale": np.concatenate([x["level_scale"]] * 3, axis=-1)}
    more = tuple(np.concatenate([a, *[0 * a] * 2], axis=axis) for a, axis in zip(state, (-3, -1), strict=True))
    assert np.array_equal(forms.parallel(SIMPLE, state, x)[1], forms.parallel(SIMPLE, more, wide)[1])


def test_level_0_is_the_token_itself():
    """log_linear_simple_gla C3."""
    state, x = in_field(SIMPLE)
    x["level_scale"][:, 1:] = field.Number(0)
    want = x["scale"] * x["level_scale"][:, :1] * (x["q"] * x["k"]).sum(axis=-1, keepdims=True) * x["v"]
    assert np.array_equal(forms.recurrent(SIMPLE, state, x)[1], want)


@EACH
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """log_linear_simple_gla C4, log_linear_gated_delta_rule C4: but for the count."""
    state, x = in_field(variant)
    x["log_decay"][t] = field.Log(None)
    (S, _), output = forms.parallel(variant, state, x)
    others = tuple(a * 0 if item.name == "S" else a for item, a in pairs(variant, state))
    (again, _), same = forms.recurrent(variant, others, x | {"v": np.concatenate([0 * x["v"][:t], x["v"][t:]])})
    assert equal(((S,), output[t:]), ((again,), same[t:]))


def test_without_strength_nothing_is_written():
    """log_linear_gated_delta_rule C3: the sum of the memories decays."""
    state, x = in_field(DELTA)
    (S, _), _ = forms.parallel(DELTA, state, x | {"beta": 0 * x["beta"]})
    assert np.array_equal(S.sum(axis=0), np.exp(x["log_decay"]).prod() * state[0].sum(axis=0))


@pytest.mark.parametrize(("name", "wrong"), [("log_decay", 0.5), ("beta", 2.5), ("beta", -0.5)])
def test_parameters_outside_of_their_domain_are_refused(name, wrong):
    """log_linear_simple_gla C1, log_linear_gated_delta_rule C1."""
    _, inputs = inside(DELTA)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(DELTA, **inputs | {name: np.full_like(inputs[name], wrong)})
