"""An implementation in any of the conventions passes when it declares them, and fails when it declares another one.

The implementations here know nothing of the exchange: they go head by head, and find what belongs together by index.
"""

from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import linattn
from linattn_spec import PROFILES, Backend
from linattn_spec.backend import Conventions
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.exchange import Exchange
from linattn_spec.laws.contract import CONTRACT
from linattn_spec.plan import plan
from linattn_spec.results import Result

VALUES = {"layout": ("BTHD", "BHTD"), "state": ("KV", "VK"), "gate": ("log", "linear"), "heads": ("repeat", "tile")}
SEEN_BY = {
    "layout": {"odd-dims"},
    "state": {"square"},
    "gate": {"odd-dims"},
    "heads": {"grouped-query", "grouped-value"},
}
SCENARIOS = {"one-token", "odd-dims", "square", "long", "grouped-query", "grouped-value", "gates-reset"}
EACH = pytest.mark.parametrize(
    "spoken", [Conventions(*values) for values in product(*VALUES.values())], ids=lambda c: "-".join(asdict(c).values())
)


def implementation(variant: linattn.Variant, spoken: Conventions) -> Callable[..., Any]:
    """The variant in these conventions; float64 inside."""
    axis = {"BTHD": 2, "BHTD": 1}[spoken.layout]

    def call(initial_state: Any = None, **inputs: Any) -> Any:
        states = initial_state if isinstance(initial_state, tuple | None) else (initial_state,)
        batch, many, few = len(inputs["q"]), max(inputs[n].shape[axis] for n in "qv"), inputs["v"].shape[axis]
        found = {
            (b, h): one_head(variant, spoken, b, lambda count, h=h: serving(spoken, h, many, count), states, inputs)
            for b in range(batch)
            for h in range(many)
        }
        output = np.stack([np.stack([found[b, h][0] for h in range(many)], axis - 1) for b in range(batch)])
        owner = [next(h for h in range(many) if serving(spoken, h, many, few) == j) for j in range(few)]
        final = tuple(
            np.array([[turned(spoken, item, found[b, h][1][i]) for h in owner] for b in range(batch)], dtype=np.float32)
            for i, item in enumerate(variant.state)
        )
        return output.astype(np.float32), final

    return with_signature(call, [*(item.name for item in variant.inputs), "initial_state"])


def serving(spoken: Conventions, h: int, many: int, count: int) -> int:
    """Which of ``count`` heads serves head ``h`` of ``many``."""
    return h % count if spoken.heads == "tile" else h // (many // count)


def one_head(variant: linattn.Variant, spoken: Conventions, b: int, own: Any, states: Any, inputs: Any) -> Any:
    """Output (T, V) and state of one head of one batch entry; ``own`` finds what serves it among so many heads."""

    def array(item: Any, x: Any) -> Any:
        if not item.axes:
            return x
        if item.time is None:
            x = x[own(len(x))]
        else:
            x = x[b, :, own(x.shape[2])] if spoken.layout == "BTHD" else x[b, own(x.shape[1])]
        x = x[..., None].astype(float) if item.axes.split()[-1] == "1" else x.astype(float)
        with np.errstate(divide="ignore"):
            return np.log(x) if item.name == "log_decay" and spoken.gate == "linear" else x

    arrays = {item.name: array(item, inputs[item.name]) for item in variant.inputs}
    start = states and tuple(
        turned(spoken, item, x[b, own(x.shape[1])]).astype(float) for item, x in zip(variant.state, states, strict=True)
    )
    return linattn.prefill(variant, form="recurrent", initial_state=start, **arrays)


def turned(spoken: Conventions, item: Any, x: np.ndarray) -> np.ndarray:
    return x.T if spoken.state == "VK" and item.axes == "K V" else x


def judged(variant: str, spoken: Conventions, declared: Conventions, scenarios: set[str]) -> list[Result]:
    backend = Backend("spoken", **asdict(declared))
    backend.implements(variant, "recurrent")(implementation(linattn.variant(variant), spoken))
    return [run_check(backend, check) for check in plan(backend) if check.scenario in scenarios]


def wrong(results: list[Result]) -> list[Result]:
    """Golden values must pass; a law may find nothing to judge, a property is noted. What these functions refuse is no
    matter of conventions.
    """
    allowed = ("pass", "noted", "unsupported")
    judged = [r for r in results if r.check.kind not in (law.name for law in CONTRACT)]
    return [r for r in judged if r.status not in (allowed if r.check.kind != "golden" else ("pass",))]


@EACH
def test_declared_as_spoken(spoken):
    results = judged("gated_delta_rule", spoken, spoken, SCENARIOS)
    assert {result.check.scenario for result in results} == SCENARIOS
    assert wrong(results) == []


@EACH
@pytest.mark.parametrize("name", VALUES)
def test_declared_wrongly(spoken, name):
    before, after = VALUES[name]
    declared = replace(spoken, **{name: after if getattr(spoken, name) == before else before})
    results = judged("gated_delta_rule", spoken, declared, SEEN_BY[name])
    golden = {result.check.scenario: result.status for result in results if result.check.kind == "golden"}
    assert golden.keys() == SEEN_BY[name]
    assert set(golden.values()) <= {"fail", "error"}


@pytest.mark.parametrize("variant", ["retention", "kda", "normalised_linear_attention", "softmax_attention"])
def test_parameters_per_head_and_states_that_are_no_matrix(variant):
    foreign = Conventions(layout="BHTD", state="VK", gate="linear", heads="tile")
    assert wrong(judged(variant, foreign, foreign, SCENARIOS)) == []


@EACH
@pytest.mark.parametrize("counts", [(6, 2, 2), (2, 2, 6)], ids=["grouped-query", "grouped-value"])
def test_three_heads_for_each_of_two(spoken, counts):
    """Two heads for each of two look the same from both sides: a reordering and its inverse are then equal."""
    rng, variant = np.random.default_rng(0), linattn.variant("gated_delta_rule")
    heads, widths = dict(zip("qkv", counts, strict=True)), {"T": 4, "K": 5, "V": 3, "1": 1}

    def draw(item: Any, heads: int) -> np.ndarray:
        shape = (2, heads, *(widths[axis] for axis in item.axes.split()))
        return np.float32(rng.uniform(size=shape)).astype(float)

    inputs = {item.name: draw(item, heads[item.heads]) for item in variant.inputs if item.axes}
    inputs |= {"log_decay": -inputs["log_decay"], "scale": 0.5}
    state = tuple(draw(item, heads["v"]) for item in variant.state)
    backend = Backend("spoken", **asdict(spoken))
    backend.implements(variant.name, "recurrent")(implementation(variant, spoken))
    results = Exchange(backend, backend.functions[0], PROFILES["fp32"])(inputs, state)
    output, (final,) = linattn.prefill(variant, initial_state=state, **inputs)
    for got, want in ((results["output"], output), (results["final_state/S"], final)):
        assert got.shape == want.shape
        assert np.abs(got - want).max() < 1e-5  # what float32 does to numbers below 10


@pytest.mark.parametrize("name", VALUES)
def test_a_convention_that_does_not_exist_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be one of {', '.join(VALUES[name])}; got 'other'"):
        Conventions(**{name: "other"})
