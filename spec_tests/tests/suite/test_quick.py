"""``linattn_spec.check``: one function in the caller's own test."""

import re

import numpy as np
import pytest

import linattn
import linattn_golden
import linattn_spec


def simple_gla(q, k, v, log_decay, scale, initial_state):
    """On (B, H, T, D)."""
    gates = log_decay[..., None]
    return linattn.prefill("simple_gla", q=q, k=k, v=v, log_decay=gates, scale=scale, initial_state=initial_state)


def the_last_head_never_forgets(q, k, v, log_decay, scale, initial_state):
    last = np.arange(log_decay.shape[1])[:, None] == log_decay.shape[1] - 1
    return simple_gla(q, k, v, np.where(last, np.float32(0), log_decay), scale, initial_state)


def forgets_so_much_at_most(q, k, v, log_decay, scale, initial_state):
    return simple_gla(q, k, v, np.maximum(log_decay, -5), scale, initial_state)


def raises(q, k, v, log_decay, scale, initial_state):
    raise NotImplementedError("no kernel")


def takes_no_keys(q, v, log_decay, scale, initial_state):
    raise AssertionError("must not be called")


def test_green_gives_back_all_results():
    results = linattn_spec.check(simple_gla, "simple_gla", layout="BHTD", form="chunkwise")
    golden = {result.check.case for result in results if result.check.kind == "golden"}
    large = {"simple_gla/recipe-128", "simple_gla/recipe-plain"}
    assert golden == {case.id for case in linattn_golden.cases("simple_gla")} - large
    statuses = {result.status for result in results if result.check.kind == "golden"}
    assert statuses == {"pass"}
    assert {(result.check.column, result.check.profile) for result in results} == {("chunkwise", "fp32")}


def test_red_says_what_is_wrong_and_where_it_begins():
    with pytest.raises(AssertionError) as failure:
        linattn_spec.check(the_last_head_never_forgets, "simple_gla", layout="BHTD")
    first, *lines = str(failure.value).splitlines()
    assert re.fullmatch(rf"{len(lines)} of \d+ checks of simple_gla failed", first)
    said = dict(line.split(": ", 1) for line in lines)
    assert "output: only head 2 of 3, from the first token on" in said["simple_gla/odd-dims:recurrent:fp32:golden"]
    assert "simple_gla/gates-zero:recurrent:fp32:golden" not in said


def test_an_exception_is_red():
    with pytest.raises(AssertionError, match="fp32:golden: NotImplementedError: no kernel"):
        linattn_spec.check(raises, "simple_gla")


def test_what_could_not_be_judged_is_red():
    with pytest.raises(AssertionError, match="no case of simple_gla could be judged; for example takes no k, which"):
        linattn_spec.check(takes_no_keys, "simple_gla")
    with pytest.raises(AssertionError, match="no case of simple_gla could be judged; for example accepts K == 7; the"):
        linattn_spec.check(simple_gla, "simple_gla", accepts="K == 7")


def test_beyond_the_declared_range_a_wrong_result_is_a_limit():
    results = linattn_spec.check(forgets_so_much_at_most, "simple_gla", layout="BHTD", log_decay_range=-5)
    beyond = {result.check.scenario for result in results if result.status == "limit"}
    assert beyond == {"gates-never", "gates-strong", "gates-spike", "gates-reset", "exact", "forgotten"}
    with pytest.raises(AssertionError, match="gates-strong"):
        linattn_spec.check(forgets_so_much_at_most, "simple_gla", layout="BHTD")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"variant": "attention"}, "attention"),
        ({"form": "sequential"}, "form must be one of recurrent, chunkwise, parallel, bidirectional; got 'sequential'"),
        ({"profiles": ["fp8"]}, "profile must be one of fp64, .*; got 'fp8'"),
        ({"layout": "TBHD"}, "layout must be one of BTHD, BHTD; got 'TBHD'"),
        ({"variant": "linear_attention"}, "linear_attention has no input log_decay"),
    ],
)
def test_a_wrong_description_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        linattn_spec.check(simple_gla, **{"variant": "simple_gla"} | wrong)
