"""The delta rules: all routes agree, matrices written by hand agree."""

import numpy as np
import pytest
from delta_and_softmax import (
    EACH_DELTA,
    EACH_ROUTE,
    certify_alike,
    functions_of_numbers,  # noqa: F401
    gradients_agree,
    in_field,
    inside,
    keeps_the_precision,
)
from drawing import agree, close

from linattn import forms


@EACH_DELTA
def test_all_routes_agree_exactly(variant):
    assert agree(variant, in_field(variant))


@EACH_DELTA
def test_the_routes_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@EACH_DELTA
@EACH_ROUTE
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, route, dtype):
    keeps_the_precision(variant, route, dtype)


@EACH_DELTA
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)


def householder(k, beta):
    return np.eye(k.size) - beta * np.outer(k, k)


def diagonal(x):
    return np.diag(np.exp(x["log_decay"]) * np.ones_like(x["q"]))


def product(x):
    """The J transitions and writes of a token of DeltaProduct, multiplied out."""
    transition, write = np.eye(x["q"].size), np.zeros((x["q"].size, x["v"].shape[-1]))
    for k, v, beta in zip(x["k"], x["v"], x["beta"], strict=True):
        transition, write = householder(k, beta) @ transition, householder(k, beta) @ write + beta * np.outer(k, v)
    return np.exp(x["log_decay"]) * transition, write


def preconditioned(x):
    r = np.log(x["A"] + x["eps"]) - x["log_atk_scale"]
    k = x["x"] ** (-r / (1 + np.abs(r))) * x["k"]
    return (np.eye(k.size) - x["beta"] * np.outer(k, x["k"])) @ diagonal(x), x["beta"] * np.outer(k, x["v"])


BY_HAND = {  # transition and write of a token
    "dplr": lambda x: (diagonal(x) + np.outer(x["b"], x["a"]), np.outer(x["k"], x["v"])),
    "iplr": lambda x: (np.eye(x["k"].size) + np.outer(x["b"], x["a"]), np.outer(x["k"], x["v"])),
    "rwkv7": lambda x: (diagonal(x) - np.outer(x["a"] * x["kappa"], x["kappa"]), np.outer(x["k"], x["v"])),
    "comba": lambda x: (diagonal(x) - x["beta"] * np.outer(x["k"], x["p"]), x["beta"] * np.outer(x["k"], x["v"])),
    "gdn2": lambda x: (
        (np.eye(x["k"].size) - np.outer(x["k"], x["b"] * x["k"])) @ diagonal(x),
        np.outer(x["k"], x["w"] * x["v"]),
    ),
    "gated_delta_product": product,
    "gated_oja": lambda x: (
        np.diag(np.exp(x["log_decay"])) @ householder(x["v"], x["beta"]),  # from the right
        x["beta"] * np.outer(x["k"], x["v"]),
    ),
    "preconditioned_gated_delta_rule": preconditioned,
    "preconditioned_kda": preconditioned,
}


@EACH_DELTA
def test_the_state_is_transition_by_transition_the_one_written_by_hand(variant):
    (S, *A), x = inside(variant)
    output = forms.recurrent(variant, (S, *A), x)[1]
    for t, got in enumerate(output):
        token = forms.take(variant, x, t)
        if A:
            A = [np.exp(token["log_decay_atk"]) * A[0] + token["beta_atk"] * token["k"] ** 2]
            token |= {"A": A[0]}
        transition, write = BY_HAND[variant.name](token)
        S = (S @ transition if variant.name == "gated_oja" else transition @ S) + write
        assert close(got, token["scale"] * (S.T @ token["q"]))
