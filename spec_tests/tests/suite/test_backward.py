"""The exchange of a backward pass, under every convention, and the framework's own derivation."""

import importlib.util

import numpy as np
import pytest
from examples import NAMES

import linattn_golden
from linattn_spec import Backend, load
from linattn_spec.autograd import autograd
from linattn_spec.checks import run_check
from linattn_spec.laws.gradients import LOSSES
from linattn_spec.plan import LEVELS, Selection, plan
from linattn_spec.results import Check

FUNCTIONS = [(f.variant, f.column) for f in load("numpy").functions if f.vjp and f.variant in NAMES]
SCENARIOS = ("odd-dims", "grouped-query", "gates-reset")


def judged(backend, variant, column, scenario, kind="gradient", profile="fp32"):
    return run_check(backend, Check(variant, scenario, column, profile, kind))


@pytest.mark.parametrize(("variant", "column"), FUNCTIONS)
@pytest.mark.parametrize("kind", LOSSES)
def test_our_own_tape_in_single_precision_is_right_in_every_form(variant, column, kind):
    for scenario in SCENARIOS:
        if any(case.id.endswith(f"/{scenario}") for case in linattn_golden.cases(variant)):
            result = judged(load("numpy"), variant, column, scenario, kind)
            assert result.status == "pass", result


def simple_gla(change=lambda gradients: gradients, without=(), **conventions):
    """A backend of one function whose backward pass is that of ours, under other conventions."""
    backend = Backend("mine", log_decay_range=-np.inf, **conventions)
    ours = load("numpy").function("simple_gla", "recurrent").vjp
    bthd, vk, linear, tile = (
        conventions.get(name) == value
        for name, value in (("layout", "BTHD"), ("state", "VK"), ("gate", "linear"), ("heads", "tile"))
    )

    def inside(name, x):
        x = np.swapaxes(x, 1, 2) if bthd and name != "initial_state" else x
        x = np.swapaxes(x, -1, -2) if vk and name == "initial_state" else x
        x = np.log(x) if linear and name == "log_decay" else x
        return x[:, [0, 2, 4, 1, 3, 5]] if tile and x.shape[1] == 6 else x

    def outside(name, g, x):
        g = g / np.where(x == 0, 1, x) if linear and name == "log_decay" else g
        g = g[:, [0, 3, 1, 4, 2, 5]] if tile and g.shape[1] == 6 else g
        g = np.swapaxes(g, 1, 2) if bthd and name != "initial_state" else g
        return np.swapaxes(g, -1, -2) if vk and name == "initial_state" else g

    @backend.implements("simple_gla", "recurrent")
    def call(q, k, v, log_decay, scale, initial_state):
        raise AssertionError("the forward call is no part of the check")

    @backend.vjp("simple_gla", "recurrent", without=without)
    def vjp(output_cotangent, final_state_cotangent, scale, **arguments):
        cotangents = [inside("q", output_cotangent), inside("initial_state", final_state_cotangent)]
        with np.errstate(divide="ignore"):
            own = {name: inside(name, x[..., None] if name == "log_decay" else x) for name, x in arguments.items()}
        own["log_decay"] = own["log_decay"][..., 0]
        found = ours(*cotangents, scale=scale, **own)
        found["initial_state"] = found["initial_state"][0]
        found["log_decay"] = found["log_decay"][..., None]
        back = {
            name: outside(name, found[name], x if name != "log_decay" else inside_out(x))
            for name, x in arguments.items()
        }
        back["log_decay"] = back["log_decay"][..., 0]
        return change(back)

    def inside_out(x):
        return np.swapaxes(x[..., None], 1, 2) if bthd else x[..., None]

    return backend


@pytest.mark.parametrize("layout", ["BTHD", "BHTD"])
@pytest.mark.parametrize("state", ["KV", "VK"])
@pytest.mark.parametrize("gate", ["log", "linear"])
def test_gradients_come_back_under_every_convention(layout, state, gate):
    backend = simple_gla(layout=layout, state=state, gate=gate)
    result = judged(backend, "simple_gla", "recurrent", "odd-dims")
    assert result.status == "pass", result


def test_gradients_of_tiled_heads_come_back():
    result = judged(simple_gla(layout="BHTD", heads="tile"), "simple_gla", "recurrent", "grouped-query")
    assert result.status == "pass", result


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda g: {**g, "k": None}, "vjp must return the gradient by k, or say without=('k',); got none"),
        (
            lambda g: {n: x for n, x in g.items() if n != "initial_state"},
            "vjp must return the gradient by initial_state, ",
        ),
        (lambda g: tuple(g.values()), "vjp must return a mapping from names to gradients; got tuple"),
        (lambda g: {**g, "k": g["k"].astype(float)}, "gradient by k must have dtype float32; got float64"),
        (lambda g: {**g, "k": g["k"][:, 0]}, "k must have shape (2, 3, 7, 5) (B, H, ...); got "),
        (
            lambda g: {**g, "initial_state": (g["initial_state"],) * 2},
            "the gradient by initial_state must hold S; got 2 arrays",
        ),
    ],
)
def test_what_is_no_gradient_is_refused(change, reason):
    result = judged(simple_gla(change, layout="BHTD"), "simple_gla", "recurrent", "odd-dims")
    assert result.status == "fail"
    assert result.reason.startswith(reason)


def test_a_gradient_that_is_declared_missing_is_not_asked_for():
    backend = simple_gla(lambda g: {**g, "k": None}, without=("k",), layout="BHTD")
    assert judged(backend, "simple_gla", "recurrent", "odd-dims").status == "pass"


def test_a_function_without_a_backward_pass_is_not_judged():
    backend = Backend("mine")
    backend.implements("simple_gla", "recurrent")(lambda q, k, v, log_decay, scale, initial_state: None)
    result = judged(backend, "simple_gla", "recurrent", "odd-dims")
    assert (result.status, result.reason) == ("unsupported", "registers no vjp")


def test_only_frameworks_with_derivatives_derive():
    with pytest.raises(ValueError, match=r"^vjp 'autograd' needs array torch, jax or mlx; got 'numpy'$"):
        autograd("numpy", len)


@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="torch is not installed")
def test_what_torch_does_not_reach_has_the_gradient_zero():
    import torch

    vjp = autograd("torch", lambda q, k: (2 * q, k.detach()))
    found = vjp(torch.ones(2), torch.ones(2), q=torch.ones(2), k=torch.ones(2))
    assert (found["q"].tolist(), found["k"].tolist()) == ([2, 2], [0, 0])
    assert vjp(None, torch.ones(2), q=torch.ones(2), k=torch.ones(2))["q"].tolist() == [0, 0]


@pytest.mark.parametrize("level", LEVELS)
def test_gradients_are_asked_for_only_where_they_are_proven(level):
    planned = [check for check in plan(load("numpy"), Selection(level=level)) if check.kind in LOSSES]
    assert bool(planned) == (level != "smoke")
    assert all(linattn_golden.case(check.case).cotangents for check in planned)
