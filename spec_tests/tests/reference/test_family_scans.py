"""Elementwise scans and their ancestors: routes agree, sums by hand agree, constraints hold exactly."""

import numpy as np
import pytest
from drawing import close, each, equal
from rotations_and_scans import (
    ANCESTORS,
    BY_NAME,
    SCANS,
    empty,
    in_field,
    inside,
)

from linattn import decode, forms, prefill

EACH = each(SCANS)
EACH_ANCESTOR = each(ANCESTORS)
EACH_OF_ALL = each((*SCANS, *ANCESTORS))


@EACH_ANCESTOR
@pytest.mark.parametrize("cut", range(8))
def test_a_sequence_of_an_ancestor_may_be_split_anywhere(variant, cut):
    state, inputs = in_field(variant)
    middle, first = forms.recurrent(variant, state, forms.take(variant, inputs, slice(0, cut)))
    end, second = forms.recurrent(variant, middle, forms.take(variant, inputs, slice(cut, None)))
    assert equal((end, np.concatenate([first, second])), forms.recurrent(variant, state, inputs))
    assert variant.forms == ("recurrent",)


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


def test_rg_lru_keeps_the_variance():
    """rg_lru C5: the squares of the weights of the initial state and of all inputs sum to 1."""
    _, x = inside(BY_NAME["rg_lru"])
    x["i"] = np.ones_like(x["i"])
    squares = np.exp(x["log_decay"]).prod(axis=0) ** 2 + sum(rg_lru_weight(x, 6, s) ** 2 for s in range(7))
    assert close(squares, np.ones(5))
