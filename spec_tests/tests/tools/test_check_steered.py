"""``linattn check``, steered: levels, a budget, what failed last, and what is known to fail."""

import json
import time
from datetime import date, timedelta

import pytest
from commandline import called, run, write_adapter

from linattn_spec import load, runner
from linattn_spec.known import known
from linattn_spec.plan import Selection, most_telling_first, plan
from linattn_spec.results import Check, Result, append, start_log
from linattn_tools import session

WRONG = ("FACTOR = 1.0", "FACTOR = 1.5")
LINEAR = ("--variant", "linear_attention")
GOLDEN = "linear_attention/*:*:fp32:golden"

pytestmark = pytest.mark.usefixtures("no_workers")


def report(path="all.json"):
    return json.loads(path.read_text())


def entry(check, seen="1.2", **more):
    fields = {"check": check, "backend": "Hand <made>", "seen": seen, "reason": "half is missing", **more}
    lines = [f"{name} = {x}" if isinstance(x, date) else f'{name} = "{x}"' for name, x in fields.items()]
    return "\n".join(["[[failure]]", *lines, 'link = "https://example.org/7"', ""])


@pytest.fixture
def check(tmp_path, capsys):
    """Run ``linattn check`` with these words: the exit code, the report, and what was printed."""

    def command(path, *words):
        (tmp_path / "all.json").unlink(missing_ok=True)
        code = run("check", path, *words, "--json", "all.json", "--html", "all.html")
        written = tmp_path / "all.json"
        return code, json.loads(written.read_text()) if written.exists() else None, capsys.readouterr()

    return command


def ids(content, *statuses):
    return [result["id"] for result in content["results"] if not statuses or result["status"] in statuses]


# -- levels ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--level", "smoke"), ("--level", "core"), ()])
def test_the_level_says_what_is_planned_and_stands_in_the_report(check, tmp_path, words):
    path = write_adapter(tmp_path / "adapter.py")
    code, content, _ = check(path, *LINEAR, *words)
    level = words[1] if words else "core"
    assert code == 0
    assert ids(content) == [c.id for c in plan(load(str(path)), Selection(("linear_attention",), level=level))]
    assert content["environment"]["level"] == level
    assert f"<dd>{level}</dd>" in (tmp_path / "all.html").read_text()


def test_level_smoke_sees_a_wrong_implementation(check, tmp_path):
    code, content, _ = check(write_adapter(tmp_path / "adapter.py", WRONG), "--level", "smoke")
    assert code == 1
    assert {result["status"] for result in content["results"]} == {"fail"}


def test_an_unknown_level_is_refused(check, tmp_path):
    code, _, printed = check(write_adapter(tmp_path / "adapter.py"), "--level", "quick")
    assert code == 2
    assert printed.err == "linattn: level must be one of smoke, core, full; got 'quick'\n"


# -- a budget ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """A clock on which every check takes a second."""
    now, real = [time.time()], runner.in_time
    monkeypatch.setattr(time, "time", lambda: now[0])

    def slow(*arguments):
        result = real(*arguments)
        now[0] += 1
        return result

    monkeypatch.setattr(runner, "in_time", slow)


@pytest.mark.usefixtures("clock")
def test_a_budget_is_kept_and_the_run_goes_on_where_it_ended(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    planned = plan(load(str(path)))
    code, content, printed = check(path, "--budget", 7)
    assert code == 1
    assert ids(content) == [c.id for c in planned]
    reached = most_telling_first(planned)[:7]
    assert set(ids(content, "not run")) == {c.id for c in planned} - {c.id for c in reached}
    assert {r["reason"] for r in content["results"] if r["status"] == "not run"} == {"the budget was over"}
    assert "\ngo on with --resume\n" in printed.out
    before = called(path)
    code, content, printed = check(path, "--resume")
    assert (code, ids(content, "not run")) == (0, [])
    assert "go on with" not in printed.out
    whole = write_adapter(tmp_path / "whole.py")
    check(whole)
    assert 0 < before < called(path) == called(whole)


@pytest.mark.usefixtures("clock")
def test_a_budget_that_is_enough_changes_nothing_but_the_order(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    code, content, printed = check(path, *LINEAR, "--budget", 10000)
    assert (code, ids(content, "not run")) == (0, [])
    lines = [line for line in printed.out.splitlines() if line.startswith("linear_attention ")]
    assert len(lines) == 2  # one for every function and profile
    assert all(line.endswith(" passed") for line in lines)


@pytest.mark.parametrize("budget", ["0", "-1", "soon"])
def test_a_budget_is_a_number_of_seconds(check, tmp_path, budget):
    assert check(write_adapter(tmp_path / "adapter.py"), "--budget", budget)[0] == 2


# -- what failed last --------------------------------------------------------------------------------------------------


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


# -- known failures ----------------------------------------------------------------------------------------------------


def test_known_failures_beside_the_backend_make_a_run_right(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    (tmp_path / "known_failures.toml").write_text(entry(GOLDEN) + entry("normalised_linear_attention/*:*:*:golden"))
    code, content, printed = check(path, *LINEAR)
    assert code == 0
    failing = ids(content, "known")
    assert failing
    assert all(name.endswith(":golden") for name in failing)
    assert content["known_failures"] == []
    assert f"0 failed, 0 limit, 0 error, {len(failing)} known" in printed.out
    assert "FAIL" not in printed.out
    assert printed.out.count(f" passed, {len(failing) // 2} known\n") == 2  # as many in both functions
    page = (tmp_path / "all.html").read_text()
    assert f"{len(failing)} fail as is known" in page
    assert "half is missing, https://example.org/7" in page


def test_the_log_has_what_was_seen_and_known_failures_did_not_fail_last(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    (tmp_path / "mine.toml").write_text(entry(GOLDEN))
    _, content, _ = check(path, *LINEAR, "--known", "mine.toml")
    code, _, printed = check(path, "--last-failed", "--known", "mine.toml")
    assert (code, "nothing of what is selected failed" in printed.err) == (2, True)
    code, again, _ = check(path, "--last-failed")  # without the file, they did
    assert (code, ids(again, "fail")) == (1, ids(content, "known"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (entry("linear_attention/odd-dims:recurrent:fp32:golden"), "fails with {path} 1.2; remove the entry"),
        (entry("linear_attention/odd-dim:recurrent:fp32:golden"), "; correct the pattern, or remove the entry"),
        (
            entry("linear_attention/odd-dims:recurrent:fp32:golden", expires=date.today() - timedelta(days=2)),
            "see whether https://example.org/7 is solved, and remove it or date it anew",
        ),
    ],
)
def test_an_entry_that_is_not_true_is_an_error(check, tmp_path, text, words):
    path = write_adapter(tmp_path / "adapter.py")
    (tmp_path / "known_failures.toml").write_text(text)
    code, content, printed = check(path, *LINEAR)
    assert (code, content["exit_code"]) == (1, 1)
    assert ids(content, "fail", "error", "known") == []
    (complaint,) = content["known_failures"]
    assert complaint.startswith(f"{tmp_path / 'known_failures.toml'}, failure 1: ")
    assert words.format(path=path) in complaint
    assert f"KNOWN FAILURES {complaint}\n" in printed.out
    assert words.format(path=path) in (tmp_path / "all.html").read_text()
    assert check(path, "--variant", "normalised_linear_attention")[0] == 0  # which has no part of it


@pytest.mark.usefixtures("clock")
def test_what_the_budget_left_out_is_not_held_against_an_entry(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    (tmp_path / "known_failures.toml").write_text(entry(GOLDEN))
    assert check(path, "--budget", 7)[1]["known_failures"] == []
    assert len(check(path, "--resume", "--level", "full", *LINEAR)[1]["known_failures"]) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [(entry("gla"), "mine.toml, failure 1: check id must be VARIANT/"), ("[", "mine.toml: must be TOML: "), (None, "")],
)
def test_a_file_that_is_wrong_is_refused_before_anything_runs(check, tmp_path, text, words):
    path = write_adapter(tmp_path / "adapter.py")
    if text:
        (tmp_path / "mine.toml").write_text(text)
    code, _, printed = check(path, "--known", "mine.toml")
    assert (code, called(path), printed.out) == (2, 0, "")
    assert "mine.toml" in printed.err
    assert words in printed.err
