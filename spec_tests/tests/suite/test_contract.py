"""The contract: accepted nonsense is seen, and no sensible generosity is called wrong."""

from typing import Any

import numpy as np
import pytest
from plain import judged, plain

import linattn
from linattn.record import FORMS
from linattn_spec import Backend, Unsupported, load
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.laws.contract import CONTRACT
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check

KINDS = [law.name for law in CONTRACT]


def k_filled_up(**arguments: Any) -> Any:
    """Tokens that k lacks are zeros."""
    k, (_, _, tokens, _) = arguments["k"], arguments["q"].shape
    return plain(**arguments | {"k": np.pad(k, ((0, 0), (0, 0), (0, tokens - k.shape[2]), (0, 0)))})


def channels_filled_up(**arguments: Any) -> Any:
    k, width = arguments["k"], arguments["q"].shape[3]
    return plain(**arguments | {"k": np.pad(k, ((0, 0), (0, 0), (0, 0), (0, width - k.shape[3])))})


def first_heads_taken(**arguments: Any) -> Any:
    heads = arguments["q"].shape[1]
    return plain(**arguments | {name: arguments[name][:, :heads] for name in ("k", "v", "log_decay", "beta")})


def batch_of_the_largest(**arguments: Any) -> Any:
    """An output for entries of k that no other array has."""
    size = arguments["k"].shape[0]
    full = {name: np.resize(x, (size, *x.shape[1:])) for name, x in arguments.items() if isinstance(x, np.ndarray)}
    return plain(**arguments | full)


def state_taken_as_it_lies(**arguments: Any) -> Any:
    (batch, heads, _, K), V = arguments["k"].shape, arguments["v"].shape[3]
    return plain(**arguments | {"initial_state": np.resize(arguments["initial_state"], (batch, heads, K, V))})


def integers_for_floats(**arguments: Any) -> Any:
    """The bytes of small integers are tiny floats."""
    v = arguments["v"]
    return plain(**arguments | {"v": v * np.float32(1e-38) if v.dtype.kind == "i" else v})


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (k_filled_up, "shapes", "accepted k with a token less, and returned an output of shape (2, 3, 7, 11)"),
        (channels_filled_up, "shapes", "accepted k with a channel less, and returned an output of shape (2, 3, 7, 11)"),
        (
            first_heads_taken,
            "shapes",
            "; ".join(
                f"{start}{name} with a head more, and returned an output of shape (2, 3, 7, 11)"
                for start, name in (("accepted ", "k"), ("", "v"), ("", "log_decay"), ("", "beta"))
            ),
        ),
        (
            batch_of_the_largest,
            "shapes",
            "accepted k with a batch entry more, and returned an output of shape (3, 3, 7, 11)",
        ),
        (
            state_taken_as_it_lies,
            "states",
            "accepted a state transposed, and returned an output of shape (2, 3, 7, 11); "
            "a state with a head more, and returned an output of shape (2, 3, 7, 11)",
        ),
    ],
)
def test_what_is_accepted_is_named(call, kind, words):
    result = judged(call, kind)
    assert (result.status, result.reason) == ("fail", words)


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_too_much_may_be_ignored_and_integers_may_be_numbers(kind):
    result = judged(plain, kind)
    assert (result.status, result.reason) == ("pass", "")
    assert result.load is not None


@pytest.mark.parametrize("refusal", [ValueError, Unsupported, AssertionError])
@pytest.mark.parametrize("kind", ["shapes", "states", "integers"])
def test_any_exception_is_a_refusal(kind, refusal):
    refused = []

    def strict(**arguments: Any) -> Any:
        (B, H, T, K), V = arguments["q"].shape, arguments["v"].shape[3]
        wanted = {"q": (B, H, T, K), "k": (B, H, T, K), "v": (B, H, T, V), "log_decay": (B, H, T), "beta": (B, H, T)}
        wanted["initial_state"] = (B, H, K, V)
        if any((arguments[name].shape, arguments[name].dtype) != (x, np.float32) for name, x in wanted.items()):
            refused.append(kind)
            raise refusal("no")
        return plain(**arguments)

    result = judged(strict, kind)
    assert (result.status, result.reason) == ("pass", "refused")
    assert len(refused) == {"shapes": 13, "states": 3, "integers": 2}[kind]  # k: 4, v, log_decay and beta: 3 each


def test_integers_that_become_something_else_are_seen():
    result = judged(integers_for_floats, "integers")
    assert (result.status, result.reason[:14]) == ("fail", "v of integers:")


def test_an_output_of_integers_is_visible_and_not_compared():
    def like_q(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        return output.astype(arguments["q"].dtype), state

    assert judged(like_q, "integers").status == "pass"


def test_a_state_must_be_complete():
    def call(**arguments: Any) -> Any:
        state = arguments["initial_state"]
        if len(state) == 1:
            arguments["initial_state"] = (state[0], state[0].sum(axis=-1))
        return linattn.prefill("normalised_linear_attention", **arguments)

    backend = Backend("mine", layout="BHTD")
    names = ["q", "k", "v", "eps", "initial_state"]
    backend.implements("normalised_linear_attention", "recurrent")(with_signature(call, names))
    result = run_check(backend, Check("normalised_linear_attention", "odd-dims", "recurrent", "fp32", "states"))
    words = "accepted a state without its last tensor, and returned an output of shape (2, 3, 7, 11)"
    assert (result.status, result.reason) == ("fail", words)


@pytest.mark.parametrize("form", FORMS)
def test_our_own_forms_keep_the_contract(form):
    backend = load("numpy")
    checks = [c for c in plan(backend, Selection(forms=(form,), profiles=("fp32",))) if c.kind in KINDS]
    results = [run_check(backend, check) for check in checks if not check.scenario.startswith("recipe")]
    assert {result.check.kind for result in results} == set(KINDS) - ({"states"} if form == "bidirectional" else set())
    assert {result.check.id: result.reason for result in results if result.status != "pass"} == {}
