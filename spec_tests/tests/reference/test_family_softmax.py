"""The relatives of softmax attention: all routes agree, sums written by hand agree."""

from math import exp, prod

import numpy as np
import pytest
from delta_and_softmax import (
    EACH_ROUTE,
    EACH_SOFTMAX,
    SOFTMAX,
    certify_alike,
    empty,
    functions_of_numbers,  # noqa: F401
    gradients_agree,
    in_field,
    inside,
    keeps_the_precision,
)
from drawing import agree, close, each

from linattn import forms


@EACH_SOFTMAX
@pytest.mark.parametrize("past", [0, 8])
def test_all_routes_agree_exactly(variant, past):
    assert agree(variant, in_field(variant, P=past))


@EACH_SOFTMAX
def test_the_routes_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@EACH_SOFTMAX
@EACH_ROUTE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, route, dtype):
    keeps_the_precision(variant, route, dtype)


@EACH_SOFTMAX
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)


def reflected(x, t, s):
    """k_s^T H_{s+1} ... H_t q_t."""
    row = x["k"][s]
    for r in range(s + 1, t + 1):
        row = row @ (np.eye(row.size) - x["beta"][r] * np.outer(x["w"][r], x["w"][r]))
    return row @ x["q"][t]


def faded(x, t, s):
    return prod(exp(g) for g in x["log_decay"][s + 1 : t + 1, 0])


def decayed(x, t, s):
    """k_s as token t finds it."""
    return x["k"][s] * np.exp(x["log_decay"][s + 1 : t + 1].sum(axis=0))


def corrected_by_the_slope(x, t, s):
    scores = [exp(x["scale"] * x["q"][t] @ k) for k in x["k"][: t + 1]]
    slopes = [x["r"][t] @ k for k in x["k"][: t + 1]]
    return scores[s] * (1 - slopes[s] + mean(scores, slopes))


def left(x, t, s):
    """What key s leaves of the stick of query t."""
    return 1 / (1 + exp(x["scale"] * x["q"][t] @ x["k"][s]))


WEIGHTS = {  # of the value of token s at token t
    "fox": lambda x, t, s: exp(x["scale"] * x["q"][t] @ x["k"][s]) * faded(x, t, s),
    "alibi": lambda x, t, s: exp(x["scale"] * x["q"][t] @ x["k"][s] - x["slope"][0] * (t - s)),
    "path": lambda x, t, s: exp(x["scale"] * reflected(x, t, s)) * faded(x, t, s),
    "deltaformer": lambda x, t, s: exp(x["scale"] * x["q"][t] @ x["k"][s]),
    "wall": lambda x, t, s: exp(x["scale"] * x["q"][t] @ decayed(x, t, s)),
    "parallax": corrected_by_the_slope,
}


def mean(weights, values):
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights) if weights else 0


def corrected(x):
    """The values of DeltaFormer."""
    values = []
    for t, v in enumerate(x["v"]):
        weights = [exp(x["scale"] * x["w"][t] @ x["k"][s]) for s in range(t)]
        values.append(v - x["beta"][t] * mean(weights, values))
    return values


@each([variant for variant in SOFTMAX if variant.name in WEIGHTS])
def test_the_output_is_the_weighted_mean_written_by_hand(variant):
    """From the empty state. deltaformer C2, deltaformer C3."""
    state, x = inside(variant)
    values = corrected(x) if variant.name == "deltaformer" else x["v"]
    for t, got in enumerate(forms.recurrent(variant, empty(state), x)[1]):
        assert close(got, mean([WEIGHTS[variant.name](x, t, s) for s in range(t + 1)], values[: t + 1]))


def test_the_shares_of_a_stick_written_by_hand():
    """From the empty state. stick_breaking C1."""
    state, x = inside(SOFTMAX[-1])
    for t, got in enumerate(forms.recurrent(SOFTMAX[-1], empty(state), x)[1]):
        shares = [(1 - left(x, t, s)) * prod(left(x, t, u) for u in range(s + 1, t)) for s in range(t)]
        assert close(got, sum((share * v for share, v in zip(shares, x["v"], strict=False)), np.zeros(got.shape)))
