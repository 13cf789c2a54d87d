"""Each law catches what no other check sees: implementations right on the golden inputs, and wrong elsewhere."""

import re
from collections.abc import Callable
from typing import Any

import astray
import pytest
from astray import right

import linattn
from linattn.record import FORMS
from linattn_spec import PROFILES, Backend, load
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.laws.agreement import AGREEMENT
from linattn_spec.laws.causality import CAUSALITY
from linattn_spec.laws.linearity import LINEARITY
from linattn_spec.laws.packing import PACKING
from linattn_spec.laws.padding import PADDING
from linattn_spec.laws.symmetry import SYMMETRY
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check, Result

NAMES = ["q", "k", "v", "log_decay", "beta", "scale", "initial_state"]
LAWS = CAUSALITY + PADDING + SYMMETRY + LINEARITY
KINDS = ["golden", "untouched"] + [law.name for law in LAWS]
LEAKS = (astray.later_tokens_leak, astray.batch_entries_leak, astray.heads_leak)
TOLD_BY_CHANGED_TOKENS = {"reversal", "channels", "scale"}  # too: the golden case has not those tokens there


def judged(call: Callable[[], Callable[..., Any]], scenario: str = "odd-dims", names: Any = NAMES) -> dict[str, Result]:
    """Every kind of check on the case, each on a new implementation."""
    results = {}
    for kind in KINDS:
        backend = Backend("mine", layout="BHTD")
        backend.implements("gated_delta_rule", "recurrent")(with_signature(call(), names))
        results[kind] = run_check(backend, Check("gated_delta_rule", scenario, "recurrent", "fp32", kind))
    return results


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (astray.twice_as_large, "golden", "2 times the right values"),
        (astray.decoding_forgets_the_state, "split", "split at 1: .*; output: from the first token on"),
        (astray.wrong_for_four_tokens, "split", "split at 3: .*; output: from token 3 on, 2 times the right values"),
        (astray.later_tokens_leak, "prefix", "tokens from 3 on changed: .*; output: from the first token on"),
        (astray.batch_entries_leak, "batch", "the other batch entries changed: output"),
        (astray.heads_leak, "heads", "the other heads changed: output"),
        (astray.argument_overwritten, "untouched", "the call changed its argument initial_state"),
        (astray.large_values_clamped, "doubling", "values doubled: .*output"),
        (astray.wrong_for_eight_tokens, "neutral", r"a neutral token inserted at \d: .*, 2 times the right values"),
        (astray.wrong_for_a_block_of_64, "padding", "57 neutral tokens on the left: .*, 2 times the right values"),
        (astray.tokens_without_a_value_are_skipped, "superposition", "values of even and of odd tokens added up: "),
        (astray.large_scales_clamped, "scale", "scale doubled: output .*, 0.559 times the right values"),
        (astray.small_scales_taken_for_none, "scale", "scale halved, queries doubled: output"),
        (astray.key_channels_have_their_place, "channels", "channels K reversed: output"),
        (astray.no_tokens_no_state, "empty", "no tokens: .*final_state/S"),
    ],
    ids=lambda value: value if value in KINDS else "",
)
def test_one_check_sees_it_and_no_other_does(call, kind, words):
    wrong = {name: result for name, result in judged(lambda: call).items() if result.status != "pass"}
    assert wrong.keys() - (TOLD_BY_CHANGED_TOKENS if call in LEAKS else set()) == {kind}
    assert re.search(words, wrong[kind].reason)


def test_what_changes_from_call_to_call_is_seen():
    results = judged(astray.the_third_time_is_wrong)
    assert results["golden"].status == "pass"
    assert re.search("called again: .*, 2 times the right values", results["untouched"].reason)


def test_what_depends_on_the_place_in_the_batch_is_seen_by_a_reversal():
    results = judged(lambda: astray.entries_have_their_place)
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
    backend, laws = load("numpy"), {law.name for law in (*LAWS, *PACKING, *AGREEMENT)}
    checks = plan(backend, Selection(forms=(form,), profiles=("fp32",)))
    results = [run_check(backend, c) for c in checks if c.kind in laws and not c.scenario.startswith("recipe")]
    unheard = {"split", "prefix", "chunk_size", "agreement"} if form == "bidirectional" else set()
    unheard |= {"chunk_size"} if form != "chunkwise" else set()
    assert {result.check.kind for result in results if result.status == "pass"} == laws - unheard
    assert [result for result in results if result.status not in ("pass", "unsupported")] == []
