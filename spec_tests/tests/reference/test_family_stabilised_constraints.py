"""The constraints of the records of stabilised memories."""

import numpy as np
import pytest
from drawing import close, each, equal
from memories import (
    STABILISED,
    empty,
    empty_in_field,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    log_of_zero,  # noqa: F401
    unstabilised,
)

from linattn import forms, prefill
from linattn.numbers import field
from linattn.variants import gla, simple_gla

MLSTM, SIGMOID, RWKV4, EXP, LIGHTNET, _, UNDIVIDED = STABILISED


@each([MLSTM, SIGMOID, UNDIVIDED])
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """mlstm C4, mlstm_sigmoid C4, mlstm_sigmoid_normalised C4."""
    state, x = in_field(variant)
    x["log_decay"][t] = field.Log(None)
    final, output = forms.parallel(variant, state, x)
    again, same = forms.recurrent(variant, empty_in_field(variant, state), forms.take(variant, x, slice(t, None)))
    assert equal((final, output[t:]), (again, same))


@pytest.mark.parametrize("form", ["recurrent", "parallel"])
def test_nothing_kept_and_nothing_written_is_no_number(form):
    """mlstm C1: the stabiliser may be log 0, and the output is then 0."""
    state, x = inside(MLSTM)
    x["log_input"][:2], x["log_decay"][4], x["log_input"][4] = -np.inf, -np.inf, -np.inf
    (S, z, m), output = forms.run(MLSTM, form, empty(MLSTM, state), x)
    silent = [0, 1, 4, 6]
    assert m == x["log_input"][6] == -np.inf
    assert np.all(output[silent] == 0)
    assert np.all(np.delete(output, silent, axis=0) != 0)
    assert all(np.isfinite(a).all() for a in (S, z, output))


@pytest.mark.parametrize("form", ["recurrent", "parallel"])
def test_log_inputs_of_any_size_do_not_overflow(form):
    """mlstm C1: large ones leave the mean over |z.q|, small ones nothing."""
    state, x = inside(MLSTM)
    x["log_input"] = np.where(np.isfinite(x["log_input"]), x["log_input"], 0.0)
    sizes = {c: x | {"log_input": x["log_input"] + c} for c in (-800, 40, 800)}
    at = {c: forms.run(MLSTM, form, empty(MLSTM, state), inputs)[1] for c, inputs in sizes.items()}
    assert np.all(at[-800] == 0)
    assert np.allclose(at[800], at[40], rtol=2**10 * 2.0**-46)  # 800 takes ten bits of the exponents


def test_a_log_input_of_minus_infinity_writes_nothing():
    """mlstm C1."""
    state, x = in_field(MLSTM, T=1)
    x["log_input"][0] = field.Log(None)
    final, _ = forms.parallel(MLSTM, state, x)
    kept = np.exp(x["log_decay"][0])
    assert all(map(np.array_equal, unstabilised(MLSTM, final), [kept * a for a in unstabilised(MLSTM, state)]))


def test_the_state_of_mlstm_is_that_of_simple_gla():
    """mlstm C3."""
    state, x = in_field(MLSTM)
    S, _ = unstabilised(MLSTM, state)
    plain = {"q": x["q"], "k": x["k"], "v": np.exp(x["log_input"]) * x["v"], "log_decay": x["log_decay"]}
    (want,), _ = forms.recurrent(simple_gla.VARIANT, (S,), plain | {"scale": x["scale"]})
    final, _ = forms.parallel(MLSTM, state, x)
    assert np.array_equal(unstabilised(MLSTM, final)[0], want)


def test_the_sign_of_the_normaliser_does_not_count():
    """mlstm C5."""
    (S, z, m), x = inside(MLSTM)
    turned = x | {"k": -x["k"], "v": -x["v"]}
    assert close(forms.parallel(MLSTM, (S, -z, m), turned)[1], forms.parallel(MLSTM, (S, z, m), x)[1])


def test_a_small_normaliser_does_not_divide():
    """mlstm_sigmoid_normalised C3."""
    (S, z), x = inside(SIGMOID)
    x["k"], z = x["k"] / 100, z / 100
    assert close(forms.parallel(SIGMOID, (S, z), x)[1], forms.parallel(UNDIVIDED, (S,), x)[1])


@each([SIGMOID, UNDIVIDED])
def test_a_closed_gate_writes_nothing(variant):
    """mlstm_sigmoid C2, mlstm_sigmoid_normalised C2."""
    state, x = in_field(variant)
    final, _ = forms.parallel(variant, state, x | {"i": 0 * x["i"]})
    assert all(np.array_equal(a, np.exp(x["log_decay"]).prod() * b) for a, b in zip(final, state, strict=True))


@each([RWKV4, EXP])
def test_means_of_the_values(variant):
    """rwkv4 C1, rwkv4 C2, exp_linear_attention C1, exp_linear_attention C2."""
    state, x = inside(variant)
    output = forms.parallel(variant, empty(variant, state), x)[1]
    assert close(output[0], x["v"][0])
    for t, got in enumerate(output):
        seen = x["v"][: t + 1]
        assert np.all((seen.min(axis=0) - 1e-12 <= got) & (got <= seen.max(axis=0) + 1e-12))


def test_a_maximum_per_key_does_not_cancel():
    """exp_linear_attention C5."""
    state, x = inside(EXP)
    shifted = x | {"k": x["k"] - x["k"].max(axis=-1, keepdims=True)}
    output, other = (forms.parallel(EXP, empty(EXP, state), y)[1] for y in (x, shifted))
    assert np.abs(output - other).max() > 0.1


@pytest.mark.parametrize("size", [30.0, 3000.0])
@pytest.mark.parametrize("form", ["recurrent", "parallel"])
def test_keys_of_any_size_do_not_overflow(size, form):
    """exp_linear_attention C3: against the same sums by the largest exponent of each query."""
    state, x = inside(EXP)
    x |= {"q": size * x["q"], "k": size * x["k"]}
    for t, got in enumerate(forms.run(EXP, form, empty(EXP, state), x)[1]):
        exponents = x["q"][t] + x["k"][: t + 1]
        weights = np.exp(exponents - exponents.max()).sum(axis=-1)
        assert np.allclose(got, weights @ x["v"][: t + 1] / weights.sum(), rtol=1e-9, atol=1e-9)


def test_lightnet_is_gated_linear_attention():
    """lightnet C4."""
    state, x = inside(LIGHTNET)
    total = np.logaddexp.accumulate(x["k"], axis=0)
    log_decay = np.concatenate([np.full((1, 5), -np.inf), total[:-1]]) - total
    keys = np.exp(x["k"] - total)
    (S, n, m), output = forms.parallel(LIGHTNET, empty(LIGHTNET, state), x)
    (same,), want = forms.recurrent(gla.VARIANT, (0 * state[0],), x | {"k": keys, "log_decay": log_decay})
    assert close(np.exp(log_decay) + keys, np.ones((7, 5)))
    assert close(output, want)
    assert close(S, same)
    assert close(m + np.log(n), total[-1])


def test_lightnet_on_equal_keys_is_the_running_mean():
    """lightnet C1, lightnet C3, lightnet C5."""
    state, x = inside(LIGHTNET)
    x["k"] = np.broadcast_to(x["k"][0], x["k"].shape)
    (S, _, _), output = forms.parallel(LIGHTNET, empty(LIGHTNET, state), x)
    means = np.cumsum(x["v"], axis=0) / np.arange(1, 8)[:, None]
    assert close(output, x["scale"] * x["q"].sum(axis=-1, keepdims=True) * means)
    assert close(S, np.broadcast_to(means[-1], S.shape))


@pytest.mark.parametrize(
    ("variant", "name", "wrong"),
    [
        (MLSTM, "log_decay", 0.5),
        (RWKV4, "log_decay", 0.5),
        *((variant, *wrong) for variant in (SIGMOID, UNDIVIDED) for wrong in (("log_decay", 0.5), ("i", 1.5))),
    ],
)
def test_gates_outside_of_their_domain_are_refused(variant, name, wrong):
    """mlstm C1, mlstm_sigmoid C1, mlstm_sigmoid_normalised C1, rwkv4 C1."""
    _, inputs = inside(variant)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(variant, **inputs | {name: np.full_like(inputs[name], wrong)})
