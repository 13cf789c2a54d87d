"""Variants that turn: all routes agree, sums written by hand agree, constraints hold exactly."""

import numpy as np
import pytest
from drawing import close, each, equal
from rotations_and_scans import (
    BY_NAME,
    ROTATIONS,
    empty,
    in_field,
    inside,
)

from linattn import forms, prefill
from linattn.algebra import turn
from linattn.norms import rms_norm
from linattn.numbers import field
from linattn.rotary import rotate
from linattn.variants import gateloop, mamba3, retnet

EACH = each(ROTATIONS)
GATELOOP, MAMBA3, RETNET = (module.VARIANT for module in (gateloop, mamba3, retnet))


def test_turning_is_multiplying_by_a_complex_number():
    real, imag, angle = np.random.default_rng(0).normal(size=(3, 4))
    turned = turn(real, imag, angle)
    assert close(turned[0] + 1j * turned[1], (real + 1j * imag) * np.exp(1j * angle))


def test_gateloop_is_a_recurrence_of_complex_numbers():
    state, x = inside(GATELOOP)
    S = state[0] + 1j * state[1]
    final, output = forms.parallel(GATELOOP, state, x)
    for t in range(7):
        S = np.exp(x["log_decay"] + 1j * x["angle"])[t][:, None] * S + np.outer(x["k"][t], x["v"][t])
        assert close(output[t], x["q"][t] @ S.real)
    assert close(final[0] + 1j * final[1], S)


def coefficient(x, t, s):
    """Of the value of token s in the output of token t: what it wrote itself and what the next token wrote of it."""
    alpha = np.exp(x["log_decay"][:, 0])
    own = x["trap"][s, 0] * x["dt"][s, 0] * alpha[s + 1 : t + 1].prod()
    if s == t:
        return own
    return own + (1 - x["trap"][s + 1, 0]) * x["dt"][s + 1, 0] * alpha[s + 1 : t + 1].prod()


def relative(q, k, angle):
    """q.k with q turned by the angle against k: the real part of a product of complex numbers, and the rest."""
    n = 2 * len(angle)
    complex_q, complex_k = (z[0:n:2] + 1j * z[1:n:2] for z in (q, k))
    return (complex_q * np.conj(complex_k) * np.exp(1j * angle)).real.sum() + q[n:] @ k[n:]


def test_mamba3_is_the_weighted_sum_written_by_hand():
    """From the empty state, with turns from token s to token t."""
    state, x = inside(MAMBA3)
    _, output = forms.chunkwise(MAMBA3, empty(state), x, 3)
    for t in range(7):
        scores = [relative(x["q"][t], x["k"][s], x["angle"][s + 1 : t + 1].sum(axis=0)) for s in range(t + 1)]
        want = sum(coefficient(x, t, s) * score * x["v"][s] for s, score in enumerate(scores))
        assert close(output[t], want + x["D"] * x["v"][t])


@pytest.mark.parametrize("eps", [0, 0.5])
def test_retnet_is_the_weighted_sum_written_by_hand(eps):
    state, x = inside(RETNET)
    x |= {"eps": np.asarray(float(eps)), "log_decay": np.array([-0.125])}
    _, output = forms.chunkwise(RETNET, empty(state), x, 3)
    for t in range(7):
        scores = [relative(x["q"][t], x["k"][s], (t - s) * x["angle"]) for s in range(t + 1)]
        r = x["scale"] * sum(np.exp(-0.125 * (t - s)) * score * x["v"][s] for s, score in enumerate(scores))
        assert close(output[t], r / np.sqrt((r**2).mean() + eps))


@EACH
def test_a_positive_log_decay_is_refused(variant):
    """gateloop C1, mamba3 C1, retnet C1."""
    _, inputs = inside(variant)
    prefill(variant, **inputs)
    with pytest.raises(ValueError, match=r"^log_decay must be <= 0 \(natural log\); got max 0.25 at \[.*\]$"):
        prefill(variant, **inputs | {"log_decay": np.full_like(inputs["log_decay"], 0.25)})


@pytest.mark.parametrize(("name", "value"), [("dt", -0.5), ("trap", -0.5), ("trap", 1.5)])
def test_gates_of_mamba3_outside_their_domain_are_refused(name, value):
    """mamba3 C1."""
    _, inputs = inside(MAMBA3)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(MAMBA3, **inputs | {name: np.full_like(inputs[name], value)})


@each([GATELOOP, MAMBA3])
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """gateloop C3, mamba3 C4: the phase alone stays."""
    state, inputs = in_field(variant)
    inputs["log_decay"][t] = field.Log(None)
    final, output = forms.chunkwise(variant, state, inputs, 3)
    start = list(empty(state))
    if variant is MAMBA3:
        start[1] = state[1] + inputs["angle"][:t].sum(axis=0)
    assert equal(
        (final, output[t:]), forms.recurrent(variant, tuple(start), forms.take(variant, inputs, slice(t, None)))
    )


def test_a_half_turn_changes_the_sign_of_the_past():
    """gateloop C4."""
    state, inputs = in_field(GATELOOP)
    half = field.Angle((field.PRIME + 1) // 2)
    inputs["angle"][0] = field.Angle(0)
    opposite = inputs | {"angle": inputs["angle"].copy()}
    opposite["angle"][0] = half
    minus = tuple(-x for x in state)
    assert equal(forms.parallel(GATELOOP, minus, inputs), forms.parallel(GATELOOP, state, opposite))


def test_mamba3_without_its_trapezoid_is_mamba2_on_turned_keys():
    """mamba3 C3; simple GLA with values dt v, which is what Mamba-2 is, plus the skip."""
    (S, phase, key, value), x = in_field(MAMBA3)
    x["trap"] = 0 * x["trap"] + 1
    phases = phase + np.cumsum(x["angle"], axis=-2)
    pair = {name: rotate(x[name], phases) for name in ("q", "k")}
    values = {"v": x["dt"] * x["v"], "log_decay": x["log_decay"], "scale": 1}
    (want,), output = forms.recurrent(BY_NAME["simple_gla"], (S,), pair | values)
    final, got = forms.chunkwise(MAMBA3, (S, phase, key, value), x, 3)
    assert equal(((final[0],), got), ((want,), output + x["D"] * x["v"]))


@each([MAMBA3, RETNET])
def test_only_differences_of_angles_count(variant):
    """mamba3 C5, retnet C5."""
    state, inputs = in_field(variant)
    by = in_field(variant, seed=1)[0][1]
    S = np.swapaxes(rotate(np.swapaxes(state[0], -1, -2), by), -1, -2)
    turned = (S, state[1] + by, *(rotate(key, by) for key in state[2:3]), *state[3:])
    assert np.array_equal(forms.parallel(variant, turned, inputs)[1], forms.parallel(variant, state, inputs)[1])


def test_without_angle_retnet_is_retention_before_the_norm():
    """retnet C2."""
    state, x = inside(RETNET)
    x |= {"angle": 0 * x["angle"], "eps": np.asarray(0.0)}
    start = (state[0], 0 * state[1])
    plain = {name: x[name] for name in ("q", "k", "v", "log_decay", "scale")}
    _, r = forms.recurrent(BY_NAME["retention"], state[:1], plain)
    assert close(forms.parallel(RETNET, start, x)[1], rms_norm(r, eps=0))


def test_factors_cancel_in_the_norm():
    """retnet C3: exactly for powers of two, from the empty state."""
    state, x = inside(RETNET)
    x["eps"] = np.asarray(0.0)
    _, output = forms.parallel(RETNET, empty(state), x)
    assert close((output**2).mean(axis=-1), np.ones(7))
    for name in ("q", "k", "v", "scale"):
        assert np.array_equal(forms.parallel(RETNET, empty(state), x | {name: 4 * x[name]})[1], output)
    with_eps = x | {"eps": np.asarray(0.5)}
    assert not close(forms.parallel(RETNET, empty(state), with_eps | {"q": 4 * x["q"]})[1], output)


def test_the_normalised_scores_of_the_paper_change_nothing_after_the_norm():
    """retnet C4: section 2.2 of the paper and ``parallel_forward`` of torchscale."""
    state, x = inside(RETNET)
    x |= {"eps": np.asarray(0.0), "scale": np.asarray(0.5), "log_decay": np.array([-0.25])}
    t = np.arange(7)
    phases = t[:, None] * x["angle"]
    D = np.where(t[:, None] >= t, np.exp(-0.25 * (t[:, None] - t)), 0)
    scores = rotate(x["q"], phases) @ rotate(x["k"], phases).T / np.sqrt(5) * D / np.sqrt(D.sum(axis=-1, keepdims=True))
    by_sum = scores / np.maximum(np.abs(scores.sum(axis=-1, keepdims=True)), 1)
    by_size = scores / np.maximum(np.abs(scores).sum(axis=-1, keepdims=True), 1)
    _, output = forms.chunkwise(RETNET, empty(state), x, 3)
    for R in (by_sum, by_size):
        assert close(rms_norm(R @ x["v"], eps=0), output)
        assert not close(R @ x["v"], scores @ x["v"])
