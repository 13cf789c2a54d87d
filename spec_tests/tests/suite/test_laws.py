"""Each law catches what no other check sees: implementations right on the golden inputs, and wrong elsewhere."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linattn
import linattn_golden
from linattn.record import FORMS
from linattn_spec import PROFILES, Backend, load
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import CHECKS, run_check
from linattn_spec.laws import LAWS
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check, Result

CASE = linattn_golden.case("gated_delta_rule/odd-dims")
GOLDEN = linattn_golden.load(CASE).inputs["q"]
NAMES = ["q", "k", "v", "log_decay", "beta", "scale", "initial_state"]


def right(**arguments: Any) -> Any:
    """On (B, H, T, D)."""
    wide = {name: x[..., None] if name in ("log_decay", "beta") else x for name, x in arguments.items()}
    return linattn.prefill("gated_delta_rule", **wide)


def foreign(q: np.ndarray) -> np.ndarray:
    """(B, H, T, 1): 1 at tokens that the golden case has not, 0 at those that it has."""
    known = (q[:, :, :, None] == GOLDEN[:, :, None, :]).all(axis=-1).any(axis=-1)
    return (~known[..., None]).astype(np.float32)


def twice_as_large(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return 2 * output, state


def decoding_forgets_the_state(**arguments: Any) -> Any:
    """A path of its own for one token; the golden case with one token starts from nothing."""
    return right(**arguments | ({"initial_state": None} if arguments["q"].shape[2] == 1 else {}))


def wrong_for_four_tokens(**arguments: Any) -> Any:
    """Which only the rest of a sequence cut in the middle has."""
    output, state = right(**arguments)
    return output * (1 + (output.shape[2] == 4)), state


def later_tokens_leak(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + foreign(arguments["q"]).max(axis=2, keepdims=True), state


def batch_entries_leak(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + foreign(arguments["q"])[::-1], state


def heads_leak(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + np.roll(foreign(arguments["q"]), 1, axis=1), state


def argument_overwritten(**arguments: Any) -> Any:
    result = right(**arguments)
    arguments["initial_state"][...] = result[1][0]
    return result


LEAKS = (
    later_tokens_leak,
    batch_entries_leak,
    heads_leak,
)  # told by tokens that the golden case has not there


def the_third_time_is_wrong() -> Callable[..., Any]:
    seen: Counter[bytes] = Counter()

    def call(**arguments: Any) -> Any:
        seen[arguments["q"].tobytes()] += 1
        output, state = right(**arguments)
        return output * (1 + seen[arguments["q"].tobytes()] // 3), state

    return call


def large_values_clamped(**arguments: Any) -> Any:
    """Golden values are at most 4 in size."""
    return right(**arguments | {"v": np.clip(arguments["v"], -4, 4)})


def wrong_for_eight_tokens(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output * (1 + (output.shape[2] == 8)), state


def no_tokens_no_state(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output, tuple(x * (output.shape[2] > 0) for x in state)


def entries_have_their_place(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + foreign(arguments["q"][:, :, :1]), state


def judged(call: Callable[[], Callable[..., Any]], scenario: str = "odd-dims", names: Any = NAMES) -> dict[str, Result]:
    """Every kind of check on the case, each on a new implementation."""
    results = {}
    for kind in CHECKS:
        backend = Backend("mine", layout="BHTD")
        backend.implements("gated_delta_rule", "recurrent")(with_signature(call(), names))
        results[kind] = run_check(backend, Check("gated_delta_rule", scenario, "recurrent", "fp32", kind))
    return results


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: twice_as_large, "golden", "2 times the right values"),
        (lambda: decoding_forgets_the_state, "split", "split at 1: .*; output: from the first token on"),
        (lambda: wrong_for_four_tokens, "split", "split at 3: .*; output: from token 3 on, 2 times the right values"),
        (lambda: later_tokens_leak, "prefix", "tokens from 3 on changed: .*; output: from the first token on"),
        (lambda: batch_entries_leak, "batch", "the other batch entries changed: output"),
        (lambda: heads_leak, "heads", "the other heads changed: output"),
        (lambda: argument_overwritten, "untouched", "the call changed its argument initial_state"),
        (the_third_time_is_wrong, "untouched", "called again: .*, 2 times the right values"),
        (lambda: large_values_clamped, "doubling", "values doubled: .*output"),
        (lambda: wrong_for_eight_tokens, "neutral", "a neutral token inserted at 3: .*, 2 times the right values"),
        (lambda: no_tokens_no_state, "empty", "no tokens: .*final_state/S"),
    ],
    ids=lambda value: value if value in CHECKS else "",
)
def test_one_check_sees_it_and_no_other_does(call, kind, words):
    wrong = {name: result for name, result in judged(call).items() if result.status != "pass"}
    assert wrong.keys() - ({"reversal"} if call() in LEAKS else set()) == {kind}
    assert re.search(words, wrong[kind].reason)


def test_what_depends_on_the_place_in_the_batch_is_seen_by_a_reversal():
    results = judged(lambda: entries_have_their_place)
    assert results["golden"].status == "pass"
    assert results["reversal"].status == "fail"
    assert results["reversal"].reason.startswith("batch and heads reversed: output")


def test_a_wrong_dtype_is_no_refusal():
    def double_for_no_tokens(**arguments: Any) -> Any:
        output, state = right(**arguments)
        return (output if output.size else output.astype(float)), state

    result = judged(lambda: double_for_no_tokens)["empty"]
    assert (result.status, result.reason) == ("fail", "output must have dtype float32; got float64")


def test_refusing_an_empty_sequence_is_no_fault():
    def refuses(**arguments: Any) -> Any:
        if not arguments["q"].size:
            raise RuntimeError("no tokens")
        return right(**arguments)

    result = judged(lambda: refuses)["empty"]
    assert (result.status, result.reason) == ("pass", "refused")


def test_a_state_of_several_tensors_is_left_untouched_too():
    def call(**arguments: Any) -> Any:
        output, state = linattn.prefill("normalised_linear_attention", **arguments)
        arguments["initial_state"][1][...] = state[1]
        return output, state

    backend = Backend("mine", layout="BHTD")
    backend.implements("normalised_linear_attention", "recurrent")(
        with_signature(call, ["q", "k", "v", "eps", "initial_state"])
    )
    check = Check("normalised_linear_attention", "odd-dims", "recurrent", "fp32", "untouched")
    assert run_check(backend, check).reason == "the call changed its argument initial_state"


def test_a_law_that_does_not_apply_says_why():
    def without_state(**arguments: Any) -> Any:
        return right(**arguments)[0], None

    stateless = [name for name in NAMES if name != "initial_state"]
    assert judged(lambda: right, names=stateless)["split"].reason == "takes no initial_state"
    assert judged(lambda: without_state)["split"].reason == "returns no final_state"
    assert judged(lambda: right, scenario="long")["batch"].reason == "the case has but one"
    half = PROFILES["fp32"].with_dtypes(state="bfloat16")
    backend = Backend("mine", profiles=[half], layout="BHTD")
    backend.implements("gated_delta_rule", "recurrent")(with_signature(right, NAMES))
    split = run_check(backend, Check("gated_delta_rule", "odd-dims", "recurrent", "fp32", "split"))
    assert (split.status, split.reason) == ("unsupported", "rounds the state at every hand-over")


@pytest.mark.parametrize("form", FORMS)
def test_our_own_forms_obey_all_laws(form):
    backend = load("numpy")
    checks = plan(backend, Selection(forms=(form,), profiles=("fp32",)))
    laws = {law.name for law in LAWS if not (law.causal and form == "bidirectional")}
    results = [run_check(backend, c) for c in checks if c.kind in laws and not c.scenario.startswith("recipe")]
    assert {result.check.kind for result in results} == laws
    assert [result for result in results if result.status != "pass"] == []
