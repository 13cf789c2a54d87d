"""``linattn check --last-failed``: what runs again, and what becomes of the log."""

import json
import time

import pytest
from commandline import called, write_adapter
from steering import LINEAR, WRONG, ids

from linattn_spec import load, runner
from linattn_spec.known import known
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check, Result, append, start_log
from linattn_tools import session

pytestmark = pytest.mark.usefixtures("no_workers")


def test_what_failed_last_runs_again_and_the_log_keeps_the_rest(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    code, first, _ = check(path, *LINEAR)
    assert code == 1
    failed = ids(first, "fail")
    assert 0 < len(failed) < len(ids(first))
    code, again, _ = check(path, "--last-failed")
    assert (code, ids(again), ids(again, "fail")) == (1, failed, failed)

    write_adapter(path)  # mended
    code, mended, _ = check(path, "--last-failed")
    assert (code, ids(mended), ids(mended, "pass")) == (0, failed, failed)
    before = called(path)
    code, whole, _ = check(path, *LINEAR, "--resume")
    assert (code, ids(whole), called(path)) == (0, ids(first), before)  # nothing is left to run

    code, _, printed = check(path, "--last-failed")
    assert code == 2
    log = tmp_path / ".linattn"
    assert printed.err.startswith("linattn: nothing of what is selected failed in the earlier run (")
    assert [p.parent for p in log.iterdir()] == [log]


def test_what_failed_last_may_be_of_any_level_and_is_chosen_from(check, tmp_path):
    """``recipe-128`` is of level full."""
    wide = ("Hq == Hk and Hk == Hv and K < 64", "Hq == Hk and Hk == Hv")
    path = write_adapter(tmp_path / "adapter.py", WRONG, wide)
    backend = load(str(path))
    only = Selection(("linear_attention",), ("recurrent",), level="full")
    log = tmp_path / "log.jsonl"
    runs = [c for c in plan(backend, only) if c.scenario in ("recipe-128", "square") and c.kind == "golden"]
    log.write_text(
        json.dumps(
            {
                "backend": str(path),
                "version": "1.2",
                "spec_version": runner.environment(str(path), backend)["spec_version"],
            }
        )
    )
    with log.open("a") as file:
        file.writelines("\n" + runner.in_time(backend, c, time.time() + 60).to_json() for c in runs)
    assert len(runs) == 2
    code, content, _ = check(path, "--last-failed", "--log", log)
    assert (code, ids(content)) == (1, [c.id for c in runs])
    assert ids(check(path, "--last-failed", "--log", log, "--level", "core")[1]) != ids(content)
    assert check(path, "--last-failed", "--log", log, "--form", "bidirectional")[0] == 2


@pytest.mark.usefixtures("clock")
def test_a_budget_loses_no_failure(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    failed = ids(check(path, *LINEAR)[1], "fail")
    code, content, printed = check(path, "--last-failed", "--budget", 3)
    assert (code, len(ids(content, "fail")), len(ids(content, "not run"))) == (1, 3, len(failed) - 3)
    assert "\ngo on with --last-failed\n" in printed.out
    assert ids(check(path, "--last-failed")[1]) == failed


def test_a_drawn_case_that_failed_runs_again_whatever_its_seed(tmp_path):
    backend, log = load(str(write_adapter(tmp_path / "adapter.py"))), tmp_path / "log.jsonl"
    environment = runner.environment("adapter.py", backend)
    start_log(log, environment)
    drawn = [Check("linear_attention", f"live(seed={seed},examples=5)", "recurrent", "fp32", "live") for seed in (7, 8)]
    for one, status in zip(drawn, ("fail", "pass"), strict=True):
        append(log, Result(one, status))
    expected = known("adapter.py", backend)
    assert session.failed(plan(backend), log, environment, expected) == drawn[:1]
    with pytest.raises(ValueError, match="nothing of what is selected failed"):
        session.failed(plan(backend, Selection(forms=("bidirectional",))), log, environment, expected)


def test_an_error_counts_as_failed_and_replaces_what_stood_in_the_log(check, tmp_path):
    """Passed, then wrong, then no result: only the last one counts, and a resumed run tries it again."""
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    failed = ids(check(path, *LINEAR)[1], "fail")
    write_adapter(path, ("    count()\n", "    raise RuntimeError('out of memory')\n"))
    code, content, _ = check(path, "--last-failed")
    assert (code, ids(content, "error")) == (1, failed)
    write_adapter(path)
    code, content, _ = check(path, *LINEAR, "--resume")
    assert (code, set(ids(content, "fail", "error"))) == (0, set())


@pytest.mark.parametrize("words", [(), ("--log", "other.jsonl")])
def test_without_an_earlier_run_nothing_failed_last(check, tmp_path, words):
    path = write_adapter(tmp_path / "adapter.py")
    code, _, printed = check(path, "--last-failed", *words)
    assert code == 2
    assert printed.err.startswith(f"linattn: there is no earlier run of {path}: ")
    assert printed.err.endswith(" does not exist\n")
    assert printed.out == ""


def test_the_log_of_another_version_says_nothing_of_this_one(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    check(path, *LINEAR, "--log", "log.jsonl")
    write_adapter(path, ('version="1.2"', 'version="1.3"'))
    code, _, printed = check(path, "--last-failed", "--log", "log.jsonl")
    assert (code, printed.err) == (2, "linattn: log.jsonl has version '1.2'; this run has '1.3'\n")


def test_going_on_is_one_thing_or_the_other(check, tmp_path):
    assert check(write_adapter(tmp_path / "adapter.py"), "--resume", "--last-failed")[0] == 2
