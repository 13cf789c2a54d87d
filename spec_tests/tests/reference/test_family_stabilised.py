"""Memories of exponential weights relative to a running maximum: all routes agree, and the maximum changes nothing."""

import numpy as np
import pytest
from drawing import agree, close, each, equal
from memories import (
    STABILISED,
    empty,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    log_of_zero,  # noqa: F401
    unstabilised,
    with_closed_form,
)

from linattn import forms
from linattn.numbers import field

EACH = each(STABILISED)
MLSTM, SIGMOID, RWKV4, EXP, LIGHTNET, SLSTM, _ = STABILISED
RELATIVE = [v for v in with_closed_form(STABILISED) if any(item.name == "m" for item in v.state)]
WRITTEN = {"mlstm": "log_input", "rwkv4": "k", "exp_linear_attention": "k", "lightnet": "k", "slstm": "i"}  # exponents


@each(with_closed_form(STABILISED))
def test_all_routes_agree_exactly(variant):
    assert agree(variant, in_field(variant))


def smallest(x, y):
    """Any choice will do but log 0 beside another number."""
    y = field._log(y)
    if None in (x.exponent, y.exponent):
        return y if x.exponent is None else x
    return x if x.exponent <= y.exponent else y


@each([v for v in RELATIVE if v is not MLSTM])
@pytest.mark.parametrize("route", [forms.recurrent, forms.parallel])
def test_the_choice_of_the_maximum_changes_nothing(variant, route, monkeypatch):
    """rwkv4 C6: over the field, where another exponent is taken for the larger one."""
    state, x = in_field(variant)
    final, output = forms.recurrent(variant, state, x)
    monkeypatch.setattr(field.Log, "maximum", smallest)
    other, same = route(variant, state, x)
    assert not np.array_equal(final[-1], other[-1])
    assert equal((unstabilised(variant, final), output), (unstabilised(variant, other), same))


@pytest.mark.parametrize("route", [forms.recurrent, forms.parallel])
def test_the_choice_of_the_maximum_changes_no_state_of_mlstm(route, monkeypatch):
    """Its output has another maximum, which no function of field numbers is."""
    state, x = in_field(MLSTM)
    final, _ = forms.recurrent(MLSTM, state, x)
    monkeypatch.setattr(field.Log, "maximum", smallest)
    other, _ = route(MLSTM, state, x)
    assert not np.array_equal(final[-1], other[-1])
    assert all(map(np.array_equal, unstabilised(MLSTM, final), unstabilised(MLSTM, other)))


@pytest.mark.parametrize("shift", [-700.0, -1.0, 0.0, 3.0, 700.0])
def test_the_outputs_of_mlstm_do_not_depend_on_the_stabiliser(shift):
    """mlstm C2, and for a state that is not empty the same state relative to another exponent."""
    (S, z, m), x = inside(MLSTM)
    _, output = forms.recurrent(MLSTM, (S, z, m), x)
    if abs(shift) < 10:
        _, same = forms.parallel(MLSTM, (S * np.exp(shift), z * np.exp(shift), m - shift), x)
        assert close(output, same)
    _, fresh = forms.recurrent(MLSTM, empty(MLSTM, (S, z, m)), x)
    _, same = forms.parallel(MLSTM, (0 * S, 0 * z, m + shift), x)
    assert np.allclose(fresh, same, rtol=2**10 * 2.0**-50)  # a shift of 700 takes ten bits of the exponents


def sums(variant, x, t):
    """Weights of the tokens up to t by plain exponentials, (t + 1, D), from the empty state."""
    if variant is RWKV4:
        kept = [np.exp(x["log_decay"]) ** max(t - s - 1, 0) * np.exp(x["k"][s]) for s in range(t)]
        return np.array([*kept, np.exp(x["u"] + x["k"][t])])
    if variant in (EXP, LIGHTNET):
        return np.exp(x["k"][: t + 1])
    write = np.exp(x["log_input"]) if variant is MLSTM else x["i"]
    return np.array([np.exp(x["log_decay"][s + 1 : t + 1].sum(axis=0)) * write[s] for s in range(t + 1)])


def by_hand(variant, x, t):
    weights, values = sums(variant, x, t), x["v"][: t + 1]
    if variant is RWKV4:
        return (weights * values).sum(axis=0) / weights.sum(axis=0)
    if variant is EXP:
        scores = weights @ np.exp(x["q"][t])
        return scores @ values / scores.sum()
    if variant is LIGHTNET:
        return x["scale"] * x["q"][t] @ (weights / weights.sum(axis=0)).T @ values
    scores = x["scale"] * weights[:, 0] * (x["k"][: t + 1] @ x["q"][t])
    return scores @ values / max(abs(scores.sum()), 1)


@each(with_closed_form(STABILISED))
def test_the_output_is_the_weighted_sum_written_by_hand(variant):
    """From the empty state, without a stabiliser. rwkv4 C5: -inf in a channel leaves the last token and this one."""
    state, x = inside(variant)
    for t, got in enumerate(forms.recurrent(variant, empty(variant, state), x)[1]):
        assert close(got, by_hand(variant, x, t))


@each([RWKV4, EXP, LIGHTNET, SLSTM])
@pytest.mark.parametrize("shift", [-800.0, 800.0])
def test_a_constant_on_all_weights_cancels(variant, shift):
    """rwkv4 C3, exp_linear_attention C3, lightnet C2, slstm C3: 800 takes ten bits of the exponents."""
    state, x = inside(variant)
    x |= {"R_i": np.zeros((6, 6))} if variant is SLSTM else {}
    name = WRITTEN[variant.name]
    route = forms.parallel if variant.parallel else forms.recurrent
    output = route(variant, empty(variant, state), x)[1]
    moved = route(variant, empty(variant, state), x | {name: x[name] + shift})[1]
    assert np.allclose(output, moved, rtol=2**10 * 2.0**-46, atol=2.0**-40)


def test_the_constant_does_not_cancel_in_mlstm():
    """mlstm C6."""
    state, x = inside(MLSTM)
    output, moved = (
        forms.recurrent(MLSTM, empty(MLSTM, state), x | {"log_input": x["log_input"] + c})[1] for c in (0, 1)
    )
    assert np.abs(output - moved).max() > 0.1
