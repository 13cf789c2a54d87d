"""minLSTM: gates that are divided by their sum, and what becomes of a sum of 0."""

import numpy as np
import pytest
from drawing import equal
from rotations_and_scans import BY_NAME, in_field, inside

from linattn import forms

MIN_LSTM = BY_NAME["min_lstm"]


def test_a_common_factor_of_both_gates_cancels():
    """min_lstm C3."""
    state, inputs = in_field(MIN_LSTM)
    factor = in_field(MIN_LSTM, seed=1)[1]["f"]
    both = {name: factor * inputs[name] for name in ("f", "i")}
    assert equal(forms.parallel(MIN_LSTM, state, inputs | both), forms.parallel(MIN_LSTM, state, inputs))


@pytest.mark.parametrize("form", [forms.recurrent, forms.parallel])
def test_no_gate_at_all_is_not_a_number(form):
    """min_lstm C1: nothing refuses f = i = 0; it shows, in its channel, from its token on."""
    state, inputs = inside(MIN_LSTM)
    clean = form(MIN_LSTM, state, inputs)[1]
    gates = {name: inputs[name].copy() for name in ("f", "i")}
    for gate in gates.values():
        gate[3, 1] = 0
    with np.errstate(invalid="ignore"):
        (final,), output = form(MIN_LSTM, state, inputs | gates)
    shown = np.zeros(output.shape, dtype=bool)
    shown[3:, 1] = True
    assert np.array_equal(np.isnan(output), shown)
    assert np.array_equal(np.isnan(final), shown[-1])
    assert np.array_equal(output[~shown], clean[~shown])


@pytest.mark.parametrize("form", [forms.recurrent, forms.parallel])
def test_a_small_forget_gate_keeps_its_digits(form):
    """minLSTM with nothing to store: f / (f + i) of the state is left, however small."""
    gates = {"f": np.full((1, 1), 2.0**-60), "i": np.ones((1, 1))}
    _, output = form(MIN_LSTM, (np.ones(1),), gates | {"x": np.zeros((1, 1))})
    assert output == 2.0**-60 / (1 + 2.0**-60)
