"""What the exchange refuses, and in which words: cases that a function does not offer, and returns of another form."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linattn
import linattn_golden
from linattn_spec import PROFILES, Backend, Profile, Unsupported, exchange
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Result

ALL = ("q", "k", "v", "log_decay", "beta", "scale", "initial_state")


def right(**arguments: Any) -> Any:
    """The gated delta rule on (B, H, T, D), for what it is not told with the values that change nothing."""
    wide = {name: x[..., None] if name in ("log_decay", "beta") else x for name, x in arguments.items()}
    absent = {name: np.full((1, 1, 1, 1), x, np.float32) for name, x in (("log_decay", 0.0), ("beta", 1.0))}
    shape = (1, 1, arguments["q"].shape[2], 1)
    return linattn.prefill("gated_delta_rule", **{n: np.broadcast_to(x, shape) for n, x in absent.items()} | wide)


def judged(
    call: Callable[..., Any], names: tuple[str, ...] = ALL, accepts: str = "", profile: str | Profile = "fp32"
) -> dict[str, Result]:
    """The golden results of a function that names these inputs, by scenario."""
    backend = Backend("mine", layout="BHTD", profiles=(profile,))
    backend.implements("gated_delta_rule", "recurrent", accepts)(with_signature(call, list(names)))
    return {c.scenario: run_check(backend, c) for c in plan(backend, Selection(level="full")) if c.kind == "golden"}


def scenarios_where(holds: Callable[[linattn_golden.Case, linattn_golden.Data], bool]) -> set[str]:
    cases = list(linattn_golden.cases("gated_delta_rule"))
    return {case.id.split("/")[1] for case in cases if holds(case, linattn_golden.load(case))}


def by_status(results: dict[str, Result]) -> dict[str, set[str]]:
    found = defaultdict(set)
    for scenario, result in results.items():
        found[result.status].add(scenario)
    return found


LEGAL = {  # without this input, a case is legal where
    "scale": lambda case, data: case.numbers.get("scale", case.dims["K"] ** -0.5) == case.dims["K"] ** -0.5,
    "initial_state": lambda case, data: data.initial_state is None,
    "log_decay": lambda case, data: bool((data.inputs["log_decay"] == 0).all()),
    "beta": lambda case, data: bool((data.inputs["beta"] == 1).all()),
}


@pytest.mark.parametrize("missing", LEGAL)
def test_the_signature_is_the_list_of_capabilities(missing):
    results = judged(right, tuple(name for name in ALL if name != missing))
    legal = scenarios_where(LEGAL[missing])
    assert by_status(results) == ({"pass": legal} if legal else {}) | {"unsupported": results.keys() - legal}
    reasons = {result.reason for result in results.values() if result.status == "unsupported"}
    assert reasons == {f"takes no {missing}, which the case sets"}


@pytest.mark.parametrize(("name", "value"), [("scale", 64**-0.5), ("log_decay", 0), ("beta", 1), ("v", np.nan)])
def test_an_input_that_is_not_named_has_its_neutral_value_or_its_default(name, value):
    """None is neutral in place of v: no case is legal without it."""
    item = linattn.variant("gated_delta_rule").input(name)
    assert np.array_equal(exchange.value_if_absent(item, {"K": 64}), value, equal_nan=True)


def test_a_function_without_log_decay_is_judged_where_nothing_is_forgotten():
    assert scenarios_where(LEGAL["log_decay"]) == {"gates-zero"}


def test_accepts_is_an_expression_over_the_dimensions():
    results = judged(right, accepts="K in (64, 128) and T % 64 == 0")
    recipes = {"recipe-64", "recipe-128", "recipe-plain"}
    assert by_status(results) == {"pass": recipes, "unsupported": results.keys() - recipes}
    assert results["odd-dims"].reason == (
        "accepts K in (64, 128) and T % 64 == 0; the case has B=2, T=7, Hq=3, Hk=3, Hv=3, K=5, V=11"
    )


def test_an_adapter_can_refuse_a_case_itself():
    def call(**arguments: Any) -> Any:
        if arguments["q"].shape[2] == 1:
            raise Unsupported("needs two tokens")
        return right(**arguments)

    results = judged(call)
    assert (results["one-token"].status, results["one-token"].reason) == ("unsupported", "needs two tokens")
    assert by_status(results)["unsupported"] == {"one-token"}


def returning(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda **arguments: change(*right(**arguments))


SHAPE = "(2, 3, 5, 11) (B, H, ...)"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda o, s: (o[:, :, 1:], s), "output must have shape (2, 3, 7, 11) (B, H, ...); got (2, 3, 6, 11)"),
        (lambda o, s: (o.swapaxes(1, 2), s), "output must have shape (2, 3, 7, 11) (B, H, ...); got (2, 7, 3, 11)"),
        (lambda o, s: (o[0, 0], s), "output must have batch and head axes; got shape (7, 11)"),
        (lambda o, s: (o, s[0][:, :1]), f"final_state/S must have shape {SHAPE}; got (2, 1, 5, 11)"),
        (lambda o, s: (o, s[0].swapaxes(2, 3)), f"final_state/S must have shape {SHAPE}; got (2, 3, 11, 5)"),
        (lambda o, s: (o, (s[0], s[0])), "final_state must hold S; got 2 arrays"),
        (lambda o, s: (o, ()), "final_state must hold S; got 0 arrays"),
        (lambda o, s: (o.astype(np.float16), s), "output must have dtype float32; got float16"),
        (lambda o, s: (o, s[0].astype(float)), "final_state S must have dtype float32; got float64"),
        (lambda o, s: o.tolist(), "output must have dtype float32; got list"),
    ],
)
def test_a_return_of_another_form_is_a_failure_in_words(change, words):
    result = judged(returning(change))["odd-dims"]
    assert (result.status, result.reason) == ("fail", words)


def test_without_a_final_state_the_output_is_judged():
    right_ones = judged(returning(lambda output, state: (output, None)))
    assert by_status(right_ones) == {"pass": right_ones.keys()}
    wrong_ones = judged(returning(lambda output, state: (output + 1, None)))
    assert not by_status(wrong_ones)["pass"]


def in_float32(**arguments: Any) -> Any:
    return right(**{name: np.float32(x) if np.ndim(x) else x for name, x in arguments.items()})


def test_arrays_of_bfloat16_come_and_go():
    seen = set()

    def call(**arguments: Any) -> Any:
        seen.update((name, x.dtype.name) for name, x in arguments.items() if isinstance(x, np.ndarray))
        output, state = in_float32(**arguments)
        return output.astype(arguments["q"].dtype), state

    results = judged(call, profile="bf16-io")
    assert by_status(results) == {"pass": results.keys()}
    single = {(name, "float32") for name in ("log_decay", "beta", "initial_state")}
    assert seen == {(name, "bfloat16") for name in "qkv"} | single
    assert {r.reason for r in judged(in_float32, profile="bf16-io").values()} == {
        "output must have dtype bfloat16; got float32"
    }


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_inputs_that_a_dtype_does_not_hold_make_a_case_unsupported(dtype):
    results = judged(in_float32, profile=PROFILES["fp32"].with_dtypes(gate=dtype))
    finer = scenarios_where(lambda case, data: case.inputs["log_decay"].dtype == "F32")
    assert finer == {"gates-float32", "gates-spike"}
    assert by_status(results) == {"pass": results.keys() - finer, "unsupported": finer}
    assert {results[s].reason for s in finer} == {f"log_decay of this case is not exact in {dtype}"}
