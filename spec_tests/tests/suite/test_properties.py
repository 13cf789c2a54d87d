"""Properties in bits: what is measured is said, and judged only where it is claimed."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain import judged, plain

from linattn.record import FORMS
from linattn_spec import Backend, load
from linattn_spec.backend import CLAIMS
from linattn_spec.checks import run_check
from linattn_spec.comparison import Comparison
from linattn_spec.laws.properties import PROPERTIES, measured
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Run

NEXT = np.float32(1 + 2.0**-23)  # times this: about one bit more


def every_other_call() -> Callable[..., Any]:
    calls = itertools.count()

    def call(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        return output * (NEXT if next(calls) % 2 else 1), state

    return call


def tuned_by_the_last_inputs() -> Callable[..., Any]:
    """Other bits after other inputs."""
    seen: list[bytes] = []

    def call(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        seen.append(arguments["q"].tobytes())
        return output * (NEXT if len(set(seen)) > 1 else 1), state

    return call


def tuned_by_the_size(axis: int, size: int) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        return output * (NEXT if output.shape[axis] == size else 1), state

    return call


def tuned_by_all(axis: int) -> Callable[..., Any]:
    """By the values of a whole axis: here, of another number of them."""

    def call(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        other = np.take(arguments["v"], -1, axis).sum() * 2.0**-24
        return output * np.float32(1 + abs(other) / 8), state

    return call


@pytest.mark.parametrize(
    ("make", "kind", "what"),
    [
        (every_other_call, "deterministic", "called again"),
        (tuned_by_the_last_inputs, "deterministic", "after another call"),
        (lambda: tuned_by_the_size(0, 1), "batch-invariant", "batch entry 0 alone"),
        (lambda: tuned_by_the_size(0, 6), "batch-invariant", "in a batch of 6"),
        (lambda: tuned_by_the_size(2, 3), "prefix-invariant", "the first 3 of 7 tokens alone"),
        (lambda: tuned_by_all(2), "prefix-invariant", "tokens from 3 on changed"),
    ],
)
def test_other_bits_are_noted_and_wrong_where_the_property_is_claimed(make, kind, what):
    noted, claimed = judged(make(), kind), judged(make(), kind, claims=(kind,))
    assert judged(make(), "golden").status == "pass"
    assert (noted.status, claimed.status) == ("noted", "fail")
    assert noted.reason.startswith(f"{what}: differs in ")
    assert noted.reason.endswith("units")
    assert noted.reason == claimed.reason
    assert Run({}, (noted,)).exit_code == 2  # judges nothing
    assert Run({}, (claimed,)).exit_code == 1


@pytest.mark.parametrize("kind", CLAIMS)
def test_the_same_bits_are_noted_and_pass_where_they_are_claimed(kind):
    noted, claimed = judged(plain, kind), judged(plain, kind, claims=CLAIMS)
    assert (noted.status, claimed.status) == ("noted", "pass")
    assert noted.reason == claimed.reason == "same bits"


def test_each_property_can_be_claimed_and_nothing_else():
    assert tuple(law.name for law in PROPERTIES) == CLAIMS
    known = ", ".join(CLAIMS)
    with pytest.raises(ValueError, match=f"claims must be of {known}; got 'fast', 'exact'"):
        Backend("mine", claims=("deterministic", "fast", "exact"))


@pytest.mark.parametrize(
    ("got", "want", "reason"),
    [
        ([1.0, 2.0], [1.0, 2.0], "same bits"),
        ([np.nan, 2.0], [np.nan, 2.0], "same bits"),
        ([0.0, 2.0], [-0.0, 2.0], "again: differs in 1 of 2 values, by up to 0 units"),
        ([1.0, 2.0], [1.25, 2.5], "again: differs in 2 of 2 values, by up to 5 units"),
        ([np.nan, 2.0], [1.0, 2.0], "again: differs in 1 of 2 values, by up to inf units"),
    ],
)
def test_bits_are_counted(got, want, reason):
    comparison = Comparison(
        {"output": np.array(got)}, {"output": np.array(want)}, {"output": np.full(2, 0.1)}, 1, "again: "
    )
    assert measured([comparison]) == (reason == "same bits", reason)


@pytest.mark.parametrize("form", FORMS)
def test_our_own_forms_are_deterministic(form):
    backend = load("numpy")
    checks = [c for c in plan(backend, Selection(forms=(form,), profiles=("fp32",))) if c.kind == "deterministic"]
    results = [run_check(backend, check) for check in checks if not check.scenario.startswith("recipe")]
    assert results
    assert {(result.status, result.reason) for result in results} == {("noted", "same bits")}
