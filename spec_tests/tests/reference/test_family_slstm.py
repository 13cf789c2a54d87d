"""sLSTM, which has one form: against plain exponentials and its relative without feedback."""

import numpy as np
import pytest
from drawing import close
from memories import STABILISED, empty, inside

from linattn import forms

RWKV4, *_, SLSTM, _ = STABILISED[2:]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_slstm_by_plain_exponentials():
    """slstm C1, slstm C2: the LSTM of the equations without a stabiliser, from the empty state."""
    state, x = inside(SLSTM)
    c = n = h = np.zeros(6)
    _, output = forms.recurrent(SLSTM, empty(SLSTM, state), x)
    assert close(output[0], sigmoid(x["o"][0]) * np.tanh(x["z"][0]))
    for t, got in enumerate(output):
        z, i, f, o = (x[gate][t] + h @ x[f"R_{gate}"] for gate in "zifo")
        c, n = sigmoid(f) * c + np.exp(i) * np.tanh(z), sigmoid(f) * n + np.exp(i)
        h = sigmoid(o) * c / n
        assert close(got, h)
    assert np.abs(output).max() < 1


def test_slstm_that_does_not_see_its_output_is_a_chain_of_rwkv4():
    """slstm C4: one token at a time, each with its own decay."""
    state, x = inside(SLSTM)
    x |= {f"R_{gate}": np.zeros((6, 6)) for gate in "zifo"}
    memory = empty(SLSTM, state)[:3]
    for t in range(7):
        token = {"k": x["i"][t : t + 1], "v": np.tanh(x["z"][t : t + 1]), "log_decay": np.log(sigmoid(x["f"][t]))}
        memory, _ = forms.parallel(RWKV4, memory, token | {"u": np.zeros(6)})
    N, D, _ = memory
    assert close(forms.recurrent(SLSTM, empty(SLSTM, state), x)[1][-1], sigmoid(x["o"][-1]) * N / D)


@pytest.mark.parametrize("f", [-800.0, 800.0])
def test_forget_gates_of_any_size(f):
    """slstm: without overflow, all forgotten or all kept."""
    state, x = inside(SLSTM)
    x |= {f"R_{gate}": np.zeros((6, 6)) for gate in "zifo"} | {"f": np.full((7, 6), f)}
    weights = np.exp(x["i"]) if f > 0 else np.exp(x["i"]) * (np.arange(7) == 6)[:, None]
    want = sigmoid(x["o"][-1]) * (weights * np.tanh(x["z"])).sum(axis=0) / weights.sum(axis=0)
    assert close(forms.recurrent(SLSTM, empty(SLSTM, state), x)[1][-1], want)
