"""The constraints of the elementwise scans, over the finite field where they are exact."""

import numpy as np
import pytest
from drawing import close, each, equal
from rotations_and_scans import (
    BY_NAME,
    SCANS,
    empty,
    in_field,
    inside,
)

from linattn import discretise, forms, prefill
from linattn.numbers import field
from linattn.variants import hgrn, linear_recurrence, lru, s5

MEANS = each(BY_NAME[name] for name in ("hgrn", "min_gru", "min_lstm"))
STEERED = each(v for v in SCANS if v.has("log_decay") and v.input("log_decay").time is not None)
FIXED = each(v for v in SCANS if v.has("log_decay") and v.input("log_decay").time is None)
GATES = [("rg_lru", "i"), ("min_gru", "z"), ("min_lstm", "f"), ("min_lstm", "i")]


@each(v for v in SCANS if v.has("log_decay"))
def test_a_positive_log_decay_is_refused(variant):
    """linear_recurrence C1, hgrn C1, rg_lru C1, s4d C1, s5 C1, lru C1."""
    _, inputs = inside(variant)
    with pytest.raises(ValueError, match=r"^log_decay must be <= 0 \(natural log\); got max 0.25 at \[.*\]$"):
        prefill(variant, **inputs | {"log_decay": np.full_like(inputs["log_decay"], 0.25)})


@pytest.mark.parametrize(("variant", "name"), GATES)
@pytest.mark.parametrize("value", [-0.25, 1.25])
def test_a_gate_outside_0_to_1_is_refused(variant, name, value):
    """rg_lru C1, min_gru C1, min_lstm C1."""
    _, inputs = inside(BY_NAME[variant])
    with pytest.raises(ValueError, match=rf"^{name} must be in \[0, 1\]; got "):
        prefill(BY_NAME[variant], **inputs | {name: np.full_like(inputs[name], value)})


@STEERED
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """linear_recurrence C2."""
    state, inputs = in_field(variant)
    inputs["log_decay"][t] = field.Log(None)
    final, output = forms.chunkwise(variant, state, inputs, 3)
    later = forms.take(variant, inputs, slice(t, None))
    assert equal((final, output[t:]), forms.recurrent(variant, empty(state), later))


def test_without_decay_it_is_the_running_sum():
    """linear_recurrence C1."""
    (h,), inputs = in_field(linear_recurrence.VARIANT)
    inputs["log_decay"] = np.zeros((7, 5))
    _, output = forms.parallel(linear_recurrence.VARIANT, (h,), inputs)
    assert np.array_equal(output, h + np.cumsum(inputs["x"], axis=0))


@each(v for v in SCANS if v.name not in ("s5", "lru"))
def test_channels_do_not_mix(variant):
    """linear_recurrence C3, s4d C2."""
    state, inputs = in_field(variant)

    def own(item, x):
        axes = item.axes.split()
        return np.take(x, [2], axis=axes.index("D") - len(axes))

    alone = tuple(own(item, x) for item, x in zip(variant.state, state, strict=True))
    one = {item.name: own(item, inputs[item.name]) for item in variant.inputs}
    assert np.array_equal(forms.recurrent(variant, alone, one)[1], forms.parallel(variant, state, inputs)[1][:, 2:3])


KEEPS = {  # what keeps a state as it is, and what replaces it by the input
    "hgrn": ({"log_decay": 0}, {"log_decay": -np.inf}),
    "rg_lru": ({"log_decay": 0}, {"log_decay": -np.inf}),
    "min_gru": ({"z": 0}, {"z": 1}),
    "min_lstm": ({"i": 0}, {"f": 0}),
}


@pytest.mark.parametrize("name", KEEPS)
def test_what_keeps_and_what_stores(name):
    """hgrn C1, hgrn C3, rg_lru C2, rg_lru C3, min_gru C2, min_lstm C2: without a rounding."""
    variant = BY_NAME[name]
    (h,), inputs = inside(variant)
    for kind, gates in zip(("keep", "store"), KEEPS[name], strict=True):
        x = {key: part.copy() for key, part in inputs.items()}
        for gate, value in gates.items():
            x[gate][-1] = value
        (final,), output = forms.recurrent(variant, (h,), x)
        stored = x["x"][-1] * (x["i"][-1] if name == "rg_lru" else 1)
        assert np.array_equal(final, output[-2] if kind == "keep" else stored)


@MEANS
def test_the_weights_sum_to_one(variant):
    """hgrn C4, min_gru C3, min_lstm C4: one input throughout stays."""
    (h,), inputs = in_field(variant)
    inputs["x"] = np.broadcast_to(h, (7, 5))
    (final,), output = forms.chunkwise(variant, (h,), inputs, 3)
    assert np.array_equal(output, inputs["x"])
    assert np.array_equal(final, h)


def test_the_complex_states_are_those_of_the_complex_recurrence():
    """Of HGRN's first layer."""
    h, x, log_decay, angle = np.random.default_rng(0).normal(size=(4, 2, 7, 5))
    log_decay, angle = -np.abs(log_decay[0]), angle[0]
    inputs = ((1 - np.exp(log_decay)) * part for part in x)
    states = linear_recurrence.complex_states(*h[:, 0], *inputs, log_decay, angle)
    stepped, complex_h = h[:, 0], h[0, 0] + 1j * h[1, 0]
    for t in range(7):
        stepped = hgrn.complex_step(*stepped, *x[:, t], log_decay[t], angle[t])
        complex_h = np.exp(log_decay + 1j * angle)[t] * complex_h + (1 - np.exp(log_decay[t])) * (x[0] + 1j * x[1])[t]
        assert all(close(part[t], one) for part, one in zip(states, stepped, strict=True))
        assert close(states[0][t] + 1j * states[1][t], complex_h)


@pytest.mark.parametrize("name", ["lru", "s5"])
def test_between_real_matrices_it_is_the_linear_recurrence(name):
    """lru C2."""
    variant = BY_NAME[name]
    (h, g), x = in_field(variant)
    x |= {key: 0 * x[key] for key in ("B_imag", "C_imag", "D")} | {"angle": np.zeros(3)}
    u = x.get("gamma", 1) * (x["x"] @ x["B_real"].T)
    _, states = forms.recurrent(
        linear_recurrence.VARIANT, (h,), {"x": u, "log_decay": np.broadcast_to(x["log_decay"], (7, 3))}
    )
    read = x["C_real"].T * (1 if name == "lru" else 2)
    assert np.array_equal(forms.parallel(variant, (h, g), x)[1], states @ read)


@FIXED
def test_log_zero_leaves_no_memory(variant):
    """lru C4."""
    state, inputs = in_field(variant)
    inputs["log_decay"] = np.full(inputs["log_decay"].shape, field.Log(None), dtype=object)
    _, output = forms.chunkwise(variant, state, inputs, 3)
    alone = [forms.recurrent(variant, empty(state), forms.take(variant, inputs, slice(t, t + 1)))[1] for t in range(7)]
    assert np.array_equal(output, np.concatenate(alone))


def test_half_of_the_eigenvalues_stand_for_all():
    """s5 C4: with their conjugates and the LRU's single read, which takes no factor 2."""
    (real, imag), x = in_field(s5.VARIANT)
    twice = {key: np.concatenate([x[key]] * 2, axis=0) for key in ("log_decay", "B_real")}
    pairs = {
        "angle": np.concatenate([x["angle"], -x["angle"]]),
        "B_imag": np.concatenate([x["B_imag"], -x["B_imag"]]),
        "C_real": np.concatenate([x["C_real"]] * 2, axis=1),
        "C_imag": np.concatenate([x["C_imag"], -x["C_imag"]], axis=1),
        "gamma": np.ones(6),
    }
    start = (np.concatenate([real, real]), np.concatenate([imag, -imag]))
    _, output = forms.parallel(lru.VARIANT, start, x | twice | pairs)
    assert np.array_equal(output, forms.recurrent(s5.VARIANT, (real, imag), x)[1])


@pytest.mark.parametrize("rule", [discretise.zero_order_hold, discretise.bilinear])
def test_a_discretised_system(rule):
    """S5 with an eigenvalue of 0 against the rule, as one step of complex numbers after the other."""
    state, x = inside(s5.VARIANT)
    A, dt = np.array([-0.5 + 2j, -1.0 + 0j, 0j]), 0.25
    eigenvalue, weight = rule(A, dt)
    B, C = weight[:, None] * (x["B_real"] + 1j * x["B_imag"]), x["C_real"] + 1j * x["C_imag"]
    log_decay, angle = s5.polar(eigenvalue)
    own = {"log_decay": log_decay, "angle": angle, "B_real": B.real, "B_imag": B.imag}
    _, output = forms.chunkwise(s5.VARIANT, state, x | own, 3)
    h = state[0] + 1j * state[1]
    for t in range(7):
        h = eigenvalue * h + B @ x["x"][t]
        assert close(output[t], 2 * (C @ h).real + x["D"] * x["x"][t])
