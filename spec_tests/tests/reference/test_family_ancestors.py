"""The ancestors: recurrent networks by hand, channel by channel, and what becomes of them without recurrence."""

import math

import numpy as np
from drawing import close, each
from rotations_and_scans import (
    BY_NAME,
    in_field,
    inside,
)

from linattn import forms
from linattn.algebra import sigmoid
from linattn.numbers.ball import Ball
from linattn.variants import gru, linear_recurrence


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


def test_the_cell_of_an_lstm_without_recurrence_is_a_scan():
    """lstm C2."""
    (h, c), x = without_recurrence(BY_NAME["lstm"])
    states = linear_recurrence.scanned(c, sigmoid(x["x_f"]), sigmoid(x["x_i"]) * np.tanh(x["x_g"]))
    final, output = forms.recurrent(BY_NAME["lstm"], (h, c), x)
    assert np.array_equal(final[1], states[-1])
    assert np.array_equal(output, sigmoid(x["x_o"]) * np.tanh(states))


def test_the_reset_gate_before_and_after_the_matrix_differ():
    """Not where the matrix is diagonal."""
    state, x = inside(gru.VARIANT)
    token = forms.take(gru.VARIANT, x, 0)
    assert not close(gru.reset_after(*state, **token, b=0)[1], gru.step(*state, **token)[1])
    token["R_n"] = np.diag(np.diag(token["R_n"]))
    assert close(gru.reset_after(*state, **token, b=0)[1], gru.step(*state, **token)[1])
