"""Whatever a backend does costs its own check and no other; what ran is never lost."""

import time
from dataclasses import replace
from itertools import cycle

import misbehaving
import pytest

from linattn_spec import results, runner
from linattn_spec.results import Check

TIMEOUT = 10.0  # a worker imports NumPy and the backend within it, also on a busy machine


def planned(label: str, scenario: str) -> Check:
    return Check("linear_attention", scenario, f"recurrent.{label}", "fp32", "golden")


EXPECTED = {  # label: status, words
    "hangs_with_the_gil": ("error", "no answer within 10 s"),
    "exits": ("error", "the process ended with exit code 7"),
    "aborts": ("error", "the process ended with exit code "),
    "is_killed": ("error", "the process ended with exit code "),
    "leaves": ("error", "SystemExit: no device"),
    "raises": ("error", "ValueError: K must be 64"),
    "raises_the_unprintable": ("error", "UnicodeError: not text"),
    "returns_nothing": ("fail", "output must have dtype float32; got NoneType"),
    "returns_text": ("error", "ValueError: could not convert string to float"),
    "returns_objects": ("error", "TypeError: float() argument must be"),
    "returns_a_triple": ("fail", "output must have dtype float32; got tuple"),
    "returns_one_number": ("fail", "output must have dtype float32; got float"),
}
BAD = [planned(label, "one-token") for label in EXPECTED]
GOOD = [planned("right", scenario) for scenario in ("one-token", "two-tokens", "odd-dims", "square")]
CHECKS = [check for pair in zip(BAD, cycle(GOOD), strict=False) for check in pair]


@pytest.fixture(scope="module")
def found():
    return list(runner.run(misbehaving.BACKEND_FILE, CHECKS, TIMEOUT, workers=2))


def test_every_planned_check_has_its_result_in_the_order_of_the_plan(found):
    assert [result.check for result in found] == CHECKS
    assert len(EXPECTED) == len(misbehaving.FUNCTIONS) - 2


@pytest.mark.parametrize("label", EXPECTED)
def test_misbehaviour_is_named(found, label):
    result = next(result for result in found if result.check == planned(label, "one-token"))
    status, words = EXPECTED[label]
    assert (result.status, result.load) == (status, None)
    assert result.reason.startswith(words)


def test_the_checks_in_between_are_as_if_nothing_had_happened(found):
    assert {result.status for result in found if result.check in GOOD} == {"pass"}


def test_a_backend_that_does_not_load_in_a_worker_is_an_error_of_every_check(tmp_path):
    found = list(runner.run(str(tmp_path / "gone.py"), GOOD[:2], TIMEOUT, workers=1))
    assert [result.check for result in found] == GOOD[:2]
    assert all(r.status == "error" and r.reason.startswith("NoBackend") and "no such file" in r.reason for r in found)


def test_a_process_has_its_tasks_and_then_another_takes_over(monkeypatch):
    monkeypatch.setattr(runner, "TASKS", 2)
    checks = [replace(check, column="recurrent.names_its_process") for check in GOOD]
    found = list(runner.run(misbehaving.BACKEND_FILE, checks, TIMEOUT, workers=1))
    assert {result.status for result in found} == {"unsupported"}
    first, second, third, fourth = (result.reason for result in found)
    assert first == second != third == fourth


def test_after_the_deadline_no_check_begins():
    found = list(runner.run(misbehaving.BACKEND_FILE, GOOD, TIMEOUT, workers=1, deadline=time.time() - 1))
    assert [result.check for result in found] == GOOD
    assert {(result.status, result.reason) for result in found} == {("not run", "the budget was over")}


def test_a_run_that_was_cut_short_goes_on_where_it_stopped(tmp_path):
    log, environment = tmp_path / "log.jsonl", {"backend": "misbehaving"}
    results.start_log(log, environment)
    stopped = runner.run(misbehaving.BACKEND_FILE, GOOD, TIMEOUT, workers=1)
    results.append(log, next(stopped))
    stopped.close()  # an interruption
    known = results.read_log(log, environment)
    assert [result.check for result in known] == GOOD[:1]
    for result in runner.run(misbehaving.BACKEND_FILE, GOOD[1:], TIMEOUT, workers=1):
        results.append(log, result)
    assert [(r.check, r.status) for r in results.read_log(log, environment)] == [(check, "pass") for check in GOOD]
