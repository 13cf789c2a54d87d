"""Live checks find what is wrong with an adapter, and make it as small as it can be."""

import re
from itertools import count

import misbehaving
import pytest
from drawn_sizes import sizes
from faulty_kernels import (
    NUMPY,
    VARIANT,
    adapter,
    initial_state_refused_beyond_a_chunk,
    not_a_number_for_resets,
    scale_missing_for_wide_keys,
    second_query_head_reads_the_first,
    tail_of_one_token_wrong,
)

from linattn_spec import Unsupported, live, runner
from linattn_spec.checks import run_check
from linattn_spec.results import Check

USUAL = live.scenario(seed=0, examples=100)


def check_of(scenario=USUAL, profile="fp32"):
    return Check(VARIANT, scenario, "chunkwise", profile, "live")


# The smallest case of each: everything 1 but for what the fault depends on.
BROKEN = {
    scale_missing_for_wide_keys: (sizes(K=5), "output: at the first token alone"),
    tail_of_one_token_wrong: (sizes(T=17), "output: at token 16 alone, the start of a chunk of 16"),
    second_query_head_reads_the_first: (sizes(Hq=2), "output: only head 1 of 2, at the first token alone"),
    not_a_number_for_resets: (f"{sizes()},log_decay=never", "1 of 1 values not finite"),
    initial_state_refused_beyond_a_chunk: (f"{sizes(T=4)},initial_state=drawn", "RuntimeError: no room"),
}


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault.__name__)
def test_a_fault_is_found_and_made_as_small_as_it_can_be(fault):
    text, says = BROKEN[fault]
    backend = adapter(fault)
    result = run_check(backend, check_of())
    assert result.status in ("fail", "error")
    found = live.smallest(result)
    assert found == Check(VARIANT, f"drawn({text})", "chunkwise", "fp32", "golden")
    again = run_check(backend, Check.parse(found.id))
    assert (again.status, f"{found.id}: {again.reason}") == (result.status, result.reason)
    assert result.reason.endswith(f"{says}; final_state/S right") or result.reason.endswith(says)
    assert run_check(adapter(), found).status == "pass"


@pytest.mark.parametrize(
    ("variant", "form", "profile"),
    [
        ("softmax_attention", "parallel", "fp32"),
        ("kda", "recurrent", "fp32"),
        ("linear_attention", "recurrent", "fp64"),
    ],
)
def test_what_is_right_passes(variant, form, profile):
    result = run_check(NUMPY, Check(variant, live.scenario(examples=15), form, profile, "live"))
    assert result.status == "pass"
    assert 0 <= result.load < 1
    assert int(result.reason.removesuffix(" drawn cases judged")) > 10


def test_float64_is_judged_by_more_than_float64():
    """An error of eight units in the last place is seen."""

    def off(right, arguments):
        output, state = right(**arguments)
        return output * (1 + 2.0**-46), state

    result = run_check(adapter(off, profiles=("fp64",)), check_of(profile="fp64"))
    assert result.status == "fail"
    assert live.smallest(result).scenario == f"drawn({sizes()})"


def texts(seed, backend=None):
    found = live.search(backend or adapter(), check_of(live.scenario(seed, 12)))
    return [result.check.scenario for result in found.results]


def test_the_same_seed_draws_the_same_cases():
    first = texts(seed=0)
    assert texts(seed=0) == first
    assert texts(seed=1) != first
    assert len(set(first)) == len(first) > 6


def test_only_what_is_accepted_promised_and_expressible_is_asked():
    called = []

    def watched(right, arguments):
        called.append(arguments)
        return right(**arguments)

    backend = adapter(watched, ("q", "k", "v", "log_decay"), accepts="K in (16, 32) and V == K", gates=-1.0)
    result = run_check(backend, check_of(live.scenario(examples=20)))
    assert result.status == "pass"
    assert len(called) > 10
    for arguments in called:
        assert arguments["q"].shape[-1] in (16, 32)
        assert arguments["v"].shape[-1] == arguments["k"].shape[-1] == arguments["q"].shape[-1]
        assert arguments["log_decay"].min() >= -1


def test_results_that_a_dtype_does_not_hold_are_not_asked_for():
    """With a scale of 1e7 the output is beyond 65504, the largest float16; with one of 1 it is not."""
    backend = adapter(profiles=("fp16",))
    results = {
        scale: live.judge_case(backend, check_of(profile="fp16"), f"{VARIANT}/drawn({sizes(T=9)},scale={scale})")
        for scale in ("1", "1e7")
    }
    assert (results["1e7"].status, results["1e7"].reason) == (
        "unsupported",
        "output of this case is beyond the largest float16",
    )
    assert results["1"].status != "unsupported"


def test_what_nobody_can_judge_is_not_a_pass():
    result = run_check(adapter(names=("q", "k"), accepts="K == 3"), check_of(live.scenario(examples=10)))
    assert result.status == "unsupported"
    assert "drawn cases could be judged; takes no v, which the case sets" in result.reason
    none = run_check(adapter(accepts="K > 1000"), check_of())
    assert none.status == "error"
    assert "no sizes of " in none.reason


def test_few_judged_cases_are_said():
    def choosy(right, arguments):
        if arguments["q"].shape != (1, 1, 1, 1):
            raise Unsupported("one number")
        return right(**arguments)

    result = run_check(adapter(choosy), check_of(live.scenario(examples=10)))
    assert result.status == "pass"
    assert re.fullmatch(r"\d+ drawn cases judged, \d+ refused; one number", result.reason)


def test_an_answer_that_changes_is_no_reason_to_give_up():
    calls = count()

    def moody(right, arguments):
        output, state = right(**arguments)
        return (output * 2 if next(calls) % 3 else output), state

    result = run_check(adapter(moody), check_of())
    assert result.status == "fail"
    assert live.smallest(result) is not None


def test_when_time_is_up_nothing_new_is_judged():
    found = live.search(adapter(), check_of(), seconds=0)
    assert found.results == ()


@pytest.mark.parametrize(("label", "says"), [("exits", "exit code 7"), ("hangs_with_the_gil", "no answer within 10 s")])
def test_a_worker_that_dies_leaves_the_case_it_ran(label, says):
    check = Check("linear_attention", USUAL, f"recurrent.{label}", "fp32", "live")
    (result,) = runner.run(misbehaving.BACKEND_FILE, [check], timeout=10.0, workers=1)
    assert result.status == "error"
    assert says in result.reason
    assert live.smallest(result) == Check(
        "linear_attention", f"drawn({sizes()})", f"recurrent.{label}", "fp32", "golden"
    )  # the first that is drawn


@pytest.mark.parametrize("text", ["live", "live()", "live(seed=-1,examples=5)", "live(seed=0,examples=many)"])
def test_a_scenario_that_says_neither_seed_nor_number(text):
    with pytest.raises(ValueError, match=r"must read live\(seed=0,examples=50\)"):
        live.parse(text)


def test_scenarios_are_parsed():
    assert live.parse(live.scenario(3, 7)) == (3, 7)
