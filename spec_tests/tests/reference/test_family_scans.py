"""Elementwise scans and their ancestors: routes agree, sums by hand agree, reductions and constraints hold exactly."""

import math

import numpy as np
import pytest
from drawing import agree, close, each, equal
from rotation_and_scan_edges import EDGES, LOOKALIKES
from rotations_and_scans import (
    ANCESTORS,
    BY_NAME,
    ROTATIONS,
    ROUTES,
    SCANS,
    certify_alike,
    empty,
    gradients_agree,
    in_field,
    inside,
    keeps_the_precision,
)

from linattn import decode, discretise, forms, prefill
from linattn.algebra import sigmoid
from linattn.numbers import field
from linattn.numbers.ball import Ball
from linattn.variants import gru, hgrn, linear_recurrence, lru, rg_lru, s5

EACH = each(SCANS)
EACH_ANCESTOR = each(ANCESTORS)
EACH_OF_ALL = each((*SCANS, *ANCESTORS))
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
MINE, NOT_MINE = ([e for e in edges if BY_NAME[e.special] in SCANS] for edges in (EDGES, LOOKALIKES))
MEANS = each(BY_NAME[name] for name in ("hgrn", "min_gru", "min_lstm"))
STEERED = each(v for v in SCANS if v.has("log_decay") and v.input("log_decay").time is not None)
FIXED = each(v for v in SCANS if v.has("log_decay") and v.input("log_decay").time is None)
GATES = [("rg_lru", "i"), ("min_gru", "z"), ("min_lstm", "f"), ("min_lstm", "i")]


def by_edge(edges):
    return pytest.mark.parametrize("edge", edges, ids=lambda edge: f"{edge.special} of {edge.general}")


@EACH
def test_all_routes_agree_exactly(variant):
    assert agree(variant, in_field(variant))


@EACH_ANCESTOR
@pytest.mark.parametrize("cut", range(8))
def test_a_sequence_of_an_ancestor_may_be_split_anywhere(variant, cut):
    state, inputs = in_field(variant)
    middle, first = forms.recurrent(variant, state, forms.take(variant, inputs, slice(0, cut)))
    end, second = forms.recurrent(variant, middle, forms.take(variant, inputs, slice(cut, None)))
    assert equal((end, np.concatenate([first, second])), forms.recurrent(variant, state, inputs))
    assert variant.forms == ("recurrent",)


@EACH_OF_ALL
def test_the_routes_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@EACH_OF_ALL
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, dtype):
    keeps_the_precision(variant, dtype)


@EACH_OF_ALL
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)


@EACH_OF_ALL
def test_the_public_functions_run_it(variant):
    """Batches and heads, parameters per head, one token after a sequence; an axis that disagrees is named."""
    state, x = inside(variant, leading=(2, 3))
    timeless = {item.name for item in variant.inputs if item.time is None}
    x = {name: part[0] if name in timeless else part for name, part in x.items()}
    output, final = prefill(variant, initial_state=state, form=variant.forms[-1], **x)
    assert output.shape == (2, 3, 7, 5)
    _, before = prefill(variant, initial_state=state, form="recurrent", **forms.take(variant, x, slice(0, 6)))
    last, after = decode(variant, initial_state=before, **forms.take(variant, x, 6))
    assert close(last, output[:, :, 6])
    assert all(close(a, b) for a, b in zip(after, final, strict=True))
    name = next(
        item.name for item in variant.inputs if "D" in item.axes.split() and item.name != variant.inputs[0].name
    )
    axis = variant.input(name).axes.split().index("D") - len(variant.input(name).axes.split())
    with pytest.raises(ValueError, match=rf"^{name} must have shape \(\.\.\., .*D=5"):
        prefill(variant, form="recurrent", **x | {name: np.take(x[name], range(4), axis=axis)})


def hgrn_weight(x, t, s):
    return (1 - np.exp(x["log_decay"][s])) * np.exp(x["log_decay"][s + 1 : t + 1]).prod(axis=0)


def rg_lru_weight(x, t, s):
    a = np.exp(x["log_decay"])
    return np.sqrt(1 - a[s] ** 2) * x["i"][s] * a[s + 1 : t + 1].prod(axis=0)


def min_lstm_weight(x, t, s):
    shares = x["i"] / (x["f"] + x["i"])
    return shares[s] * (1 - shares[s + 1 : t + 1]).prod(axis=0)


def kernel(x, lag):
    """What a fixed system writes and reads, after some tokens: (D, D), a number for every pair of channels."""
    eigenvalue, (B, C) = np.exp(x["log_decay"] + 1j * x["angle"]), (x[f"{n}_real"] + 1j * x[f"{n}_imag"] for n in "BC")
    if B.shape == C.shape:  # S4D: the states of a channel are its own
        return np.diag(2 * (C * eigenvalue**lag * B).sum(axis=-1).real)
    factor = x["gamma"] if "gamma" in x else 2 * np.ones(3)
    return ((C * eigenvalue**lag * factor) @ B).real


WEIGHTS = {  # of the input of token s in the output of token t: a number for each channel, or a matrix
    "linear_recurrence": lambda x, t, s: np.exp(x["log_decay"][s + 1 : t + 1]).prod(axis=0),
    "hgrn": hgrn_weight,
    "rg_lru": rg_lru_weight,
    "min_gru": lambda x, t, s: x["z"][s] * (1 - x["z"][s + 1 : t + 1]).prod(axis=0),
    "min_lstm": min_lstm_weight,
    **dict.fromkeys(("s4d", "s5", "lru"), lambda x, t, s: kernel(x, t - s) + (np.diag(x["D"]) if s == t else 0)),
}


@EACH
def test_the_output_is_the_weighted_sum_written_by_hand(variant):
    """From the empty state. s4d C3 and s5 C3: the convolution."""
    state, x = inside(variant)
    x |= {"log_decay": np.where(np.isfinite(x["log_decay"]), x["log_decay"], -1.0)} if variant.has("log_decay") else {}
    _, output = forms.chunkwise(variant, empty(state), x, 3)
    for t in range(7):
        weights = [WEIGHTS[variant.name](x, t, s) for s in range(t + 1)]
        want = sum(w @ v if w.ndim == 2 else w * v for w, v in zip(weights, x["x"], strict=False))
        assert close(output[t], want)


@by_edge(MINE)
@EACH_ROUTE
def test_a_special_case(edge, route):
    """linear_recurrence C4, hgrn C2, rg_lru C4, min_gru C4, min_lstm C5, s5 C2, s4d C4, lru C3: exactly."""
    special, general = BY_NAME[edge.special], BY_NAME[edge.general]
    state, inputs = in_field(special)
    got = edge.through(lambda s, x: route(general, s, x), state, inputs)
    want = forms.recurrent(special, state, inputs)
    assert equal(got, want if edge.state_back else ((), want[1]))


@by_edge(NOT_MINE)
def test_no_special_case(edge):
    state, inputs = in_field(BY_NAME[edge.special])
    _, output = edge.through(lambda s, x: forms.recurrent(BY_NAME[edge.general], s, x), state, inputs)
    assert not np.array_equal(output, forms.recurrent(BY_NAME[edge.special], state, inputs)[1])


def test_every_edge_is_tried_somewhere():
    tried = {variant.name for variant in (*SCANS, *ROTATIONS)}
    assert all({edge.special, edge.general} & tried for edge in (*EDGES, *LOOKALIKES))


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


def test_a_common_factor_of_both_gates_cancels():
    """min_lstm C3."""
    variant = BY_NAME["min_lstm"]
    state, inputs = in_field(variant)
    factor = in_field(variant, seed=1)[1]["f"]
    both = {name: factor * inputs[name] for name in ("f", "i")}
    assert equal(forms.parallel(variant, state, inputs | both), forms.parallel(variant, state, inputs))


def test_rg_lru_keeps_the_variance():
    """rg_lru C5: the squares of the weights of the initial state and of all inputs sum to 1."""
    _, x = inside(rg_lru.VARIANT)
    x["i"] = np.ones_like(x["i"])
    squares = np.exp(x["log_decay"]).prod(axis=0) ** 2 + sum(rg_lru_weight(x, 6, s) ** 2 for s in range(7))
    assert close(squares, np.ones(5))


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


@each([BY_NAME["rnn"], BY_NAME["lstm"]])
def test_outputs_lie_between_minus_1_and_1(variant):
    """rnn C1, lstm C1."""
    state, inputs = inside(variant)
    _, output = forms.recurrent(variant, tuple(8 * part for part in state), inputs)
    assert np.abs(output).max() < 1


def test_a_gru_stays_between_minus_1_and_1():
    """gru C1, proven by balls."""
    (h,), inputs = inside(gru.VARIANT)
    lift = np.frompyfunc(Ball, 1, 1)
    _, output = forms.recurrent(gru.VARIANT, (lift(np.tanh(h)),), {name: lift(x) for name, x in inputs.items()})
    assert all(-1 < number < 1 for number in output.ravel())


def by_channel(x, names, t, h):
    """What enters every place of every channel: x + R h, one product after the other."""
    return {
        n: [float(x[f"x_{n}"][t][d] + sum(x[f"R_{n}"][d][e] * h[e] for e in range(5))) for d in range(5)] for n in names
    }


def logistic(z):
    return (1 + math.tanh(z / 2)) / 2


def test_the_lstm_one_channel_after_the_other():
    state, x = inside(BY_NAME["lstm"])
    (last, cell), output = forms.recurrent(BY_NAME["lstm"], state, x)
    h, c = (list(part) for part in state)
    for t in range(7):
        into = by_channel(x, "ifgo", t, h)
        for d in range(5):
            c[d] = logistic(into["f"][d]) * c[d] + logistic(into["i"][d]) * math.tanh(into["g"][d])
            h[d] = logistic(into["o"][d]) * math.tanh(c[d])
        assert close(output[t], h)
    assert close(last, h)
    assert close(cell, c)


def test_the_gru_one_channel_after_the_other():
    (h,), x = inside(gru.VARIANT)
    _, output = forms.recurrent(gru.VARIANT, (h,), x)
    for t in range(7):
        gates = by_channel(x, "zr", t, h)
        let_through = [logistic(gates["r"][d]) * h[d] for d in range(5)]
        candidates = by_channel(x, "n", t, let_through)["n"]
        z = [logistic(gates["z"][d]) for d in range(5)]
        h = [z[d] * h[d] + (1 - z[d]) * math.tanh(candidates[d]) for d in range(5)]
        assert close(output[t], h)


def test_the_recurrent_network_one_channel_after_the_other():
    (h,), x = inside(BY_NAME["rnn"])
    _, output = forms.recurrent(BY_NAME["rnn"], (h,), x)
    for t in range(7):
        h = [math.tanh(z) for z in by_channel({"x_h": x["x"], "R_h": x["R"]}, "h", t, h)["h"]]
        assert close(output[t], h)


def without_recurrence(variant):
    state, x = in_field(variant)
    return state, {name: 0 * part if name.startswith("R") else part for name, part in x.items()}


def test_a_network_without_recurrence_has_no_memory():
    """rnn C2."""
    state, x = without_recurrence(BY_NAME["rnn"])
    assert np.array_equal(forms.recurrent(BY_NAME["rnn"], state, x)[1], np.tanh(x["x"]))


def test_the_cell_of_an_lstm_without_recurrence_is_a_scan():
    """lstm C2."""
    (h, c), x = without_recurrence(BY_NAME["lstm"])
    states = linear_recurrence.scanned(c, sigmoid(x["x_f"]), sigmoid(x["x_i"]) * np.tanh(x["x_g"]))
    final, output = forms.recurrent(BY_NAME["lstm"], (h, c), x)
    assert np.array_equal(final[1], states[-1])
    assert np.array_equal(output, sigmoid(x["x_o"]) * np.tanh(states))


def test_a_gru_without_recurrence_is_min_gru():
    """gru C2."""
    state, x = without_recurrence(gru.VARIANT)
    inputs = {"x": np.tanh(x["x_n"]), "z": 1 - sigmoid(x["x_z"])}
    assert equal(forms.recurrent(gru.VARIANT, state, x), forms.parallel(BY_NAME["min_gru"], state, inputs))


def test_the_reset_gate_before_and_after_the_matrix_differ():
    """Not where the matrix is diagonal."""
    state, x = inside(gru.VARIANT)
    token = forms.take(gru.VARIANT, x, 0)
    assert not close(gru.reset_after(*state, **token, b=0)[1], gru.step(*state, **token)[1])
    token["R_n"] = np.diag(np.diag(token["R_n"]))
    assert close(gru.reset_after(*state, **token, b=0)[1], gru.step(*state, **token)[1])
