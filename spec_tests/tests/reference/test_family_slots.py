"""Attention over a bounded number of slots: all routes agree, sums by hand agree, constraints hold."""

from dataclasses import replace

import numpy as np
import pytest
from drawing import agree, close, each, equal
from memories import (
    SLOTS,
    empty,
    empty_in_field,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    log_of_zero,  # noqa: F401
)

from linattn import forms, prefill
from linattn.families import entering
from linattn.numbers import field
from linattn.variants import abc, softmax_attention

EACH = each(SLOTS)
GSA, ABC = SLOTS


@EACH
@pytest.mark.parametrize("slots", [1, 4])
def test_all_routes_agree_exactly(variant, slots):
    """For any functions in place of the exponential and the maximum of the scores."""
    assert agree(variant, in_field(variant, M=slots))


def weights_of_slots(variant, x, t):
    """(t + 1, M): what each token up to t has in each slot."""
    if variant is GSA:
        return np.array([x["s"][s] * np.exp(x["log_decay"][s + 1 : t + 1].sum(axis=0)) for s in range(t + 1)])
    scores = np.exp(x["s"][: t + 1])
    return scores / scores.sum(axis=0)


@EACH
def test_the_output_is_softmax_attention_over_the_slots(variant):
    """From the empty state, by plain sums."""
    state, x = inside(variant)
    _, output = forms.recurrent(variant, empty(variant, state), x)
    for t, got in enumerate(output):
        weights = weights_of_slots(variant, x, t)
        keys, values = weights.T @ x["k"][: t + 1], weights.T @ x["v"][: t + 1]
        chosen = np.exp(x["scale"] * keys @ x["q"][t])
        assert close(got, chosen @ values / chosen.sum())


def test_abc_is_gated_slot_attention_with_softmax_gates():
    """abc C4: the logarithm of the total weight gives both gates."""
    state, x = inside(ABC)
    total = np.logaddexp.accumulate(x["s"], axis=0)
    before = np.concatenate([np.full((1, 3), -np.inf), total[:-1]])
    gates = {"log_decay": before - total, "s": np.exp(x["s"] - total)}
    (keys, values, _, _), output = forms.parallel(ABC, empty(ABC, state), x)
    final, same = forms.recurrent(GSA, (0 * state[0], 0 * state[1]), x | gates)
    assert close(output, same)
    assert close(keys, final[0])
    assert close(values, final[1])


def test_abc_that_is_never_rescaled_is_gated_slot_attention_that_keeps_all():
    """The other reading: equal at the first token alone."""
    state, x = in_field(ABC)
    literal = replace(ABC, step=abc.never_rescaled, parallel=None)
    start = empty_in_field(ABC, state)
    _, output = forms.recurrent(literal, start, x)
    written, (n, m) = [], start[2:]
    for s in x["s"]:
        _, write, n, m = entering(n, m, s)
        written.append(write)
    gates = {"log_decay": np.full(x["s"].shape, field.Log(0)), "s": np.array(written)}
    _, same = forms.parallel(GSA, start[:2], x | gates)
    _, rescaled = forms.recurrent(ABC, start, x)
    assert np.array_equal(output, same)
    assert np.array_equal(output[0], rescaled[0])
    assert not np.array_equal(output[1], rescaled[1])


@EACH
def test_one_slot_does_not_see_the_query(variant):
    """gsa C3, abc C5: over the field, where only the weight is a quotient."""
    state, x = in_field(variant, M=1)
    other = x | {"q": x["q"] + x["k"]}
    assert equal(forms.parallel(variant, state, x), forms.recurrent(variant, state, other))


@pytest.mark.parametrize("t", [0, 3, 6])
def test_a_slot_that_was_overwritten_holds_the_token(t):
    """gsa C4."""
    state, x = in_field(GSA)
    x["log_decay"][t], x["s"][t] = field.Log(None), field.Number(1)
    assert np.array_equal(forms.parallel(GSA, state, x)[1][t], x["v"][t])


def test_without_strength_the_slots_decay():
    """gsa C2."""
    state, x = in_field(GSA)
    final, _ = forms.parallel(GSA, state, x | {"s": 0 * x["s"]})
    kept = np.exp(x["log_decay"]).prod(axis=0)[:, None]
    assert all(np.array_equal(a, kept * b) for a, b in zip(final, state, strict=True))


def test_a_slot_for_each_token_is_softmax_attention_once_all_are_written():
    """gsa C5: before that, slots without a token take part."""
    state, x = inside(GSA, M=7)
    x |= {"s": np.eye(7), "log_decay": np.zeros((7, 7))}
    output = forms.parallel(GSA, empty(GSA, state), x)[1]
    plain = {name: x[name] for name in ("q", "k", "v", "scale")}
    softmax = forms.parallel(softmax_attention.VARIANT, (x["k"][:0], x["v"][:0]), plain)[1]
    assert close(output[-1], softmax[-1])
    assert np.abs(output[0] - softmax[0]).max() > 0.1


def test_the_first_token_returns_its_value():
    """abc C1."""
    state, x = in_field(ABC)
    assert np.array_equal(forms.recurrent(ABC, empty_in_field(ABC, state), x)[1][0], x["v"][0])


def test_the_output_lies_in_the_convex_hull_of_the_values():
    """abc C2."""
    state, x = inside(ABC)
    output = forms.parallel(ABC, empty(ABC, state), x)[1]
    for t, got in enumerate(output):
        seen = x["v"][: t + 1]
        assert np.all((seen.min(axis=0) - 1e-12 <= got) & (got <= seen.max(axis=0) + 1e-12))


def test_a_constant_on_the_scores_of_a_slot_cancels():
    """abc C3, with an order in which it keeps the maximum: that of the floats."""
    state, x = inside(ABC)
    first, shifted = (forms.parallel(ABC, empty(ABC, state), x | {"s": x["s"] + c}) for c in (0, np.array([0, 4, -8])))
    assert close(first[1], shifted[1])
    assert all(close(a, b) for a, b in zip(first[0][:3], shifted[0][:3], strict=True))
    assert close(first[0][3] + [0, 4, -8], shifted[0][3])


@pytest.mark.parametrize("form", ["recurrent", "parallel"])
def test_scores_of_any_size_do_not_overflow(form):
    """abc C3: adding 800 takes ten bits of the scores."""
    state, x = inside(ABC)
    at_800 = forms.run(ABC, form, empty(ABC, state), x | {"s": x["s"] + 800})[1]
    assert np.allclose(at_800, forms.parallel(ABC, empty(ABC, state), x)[1], rtol=2**10 * 2.0**-50)


def test_the_gates_of_the_paper():
    """gsa C1: with s = 1 - alpha equal values are kept, up to what was there before."""
    state, x = inside(GSA)
    alpha = np.exp(x["log_decay"])
    ones = x | {"s": 1 - alpha, "v": np.ones_like(x["v"])}
    (_, values), _ = forms.parallel(GSA, empty(GSA, state), ones)
    assert close(values, np.broadcast_to(1 - alpha.prod(axis=0)[:, None], values.shape))
    with pytest.raises(ValueError, match=r"^log_decay must be <= 0"):
        prefill(GSA, **x | {"log_decay": -x["log_decay"] + 1})
