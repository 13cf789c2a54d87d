"""Known failures: what an entry excuses, and when it must be mended."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from known_entries import ENTRY, backend

from linattn_spec.known import Failure, Known, older
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check, Result

TODAY = date(2026, 11, 29)


def entry(**changes):
    given = {**ENTRY, **changes}
    return Failure("known.toml, failure 1", **{**given, "check": Check.parse(given["check"])})


def of(*failures, version="1.32.0"):
    return Known("mylib", backend(version), failures, TODAY)


def run_of(selection=None, failing="", status="fail"):
    """Results of all that is planned: of one status where the id begins so, passed elsewhere."""
    planned = plan(backend(), selection)
    return [Result(check, status if failing and check.id.startswith(failing) else "pass") for check in planned]


def complaints(failure, results, selection=None, version="1.32.0"):
    expected = of(failure, version=version)
    return expected.complaints(map(expected.apply, results), selection or Selection())


@pytest.mark.parametrize(
    ("pattern", "check_id", "matches"),
    [
        ("gla/odd-dims:recurrent:fp32:golden", "gla/odd-dims:recurrent:fp32:golden", True),
        ("gla/odd-dims:recurrent:fp32:golden", "gla/odd-dims:recurrent.fused:fp32:golden", False),
        ("gla/*:recurrent*:fp*:golden", "gla/long:recurrent.fused:fp32:golden", True),
        ("*/*:*:*:*", "kda/live(seed=0,examples=50):recurrent:bf16-io:live", True),
        ("gla/*:*:*:*", "simple_gla/long:recurrent:fp32:golden", False),
        ("gla/*:*:fp32:*", "gla/long:recurrent:fp64:split", False),
        ("gla/Odd-dims:*:*:*", "gla/odd-dims:recurrent:fp32:golden", False),
    ],
)
def test_every_part_of_an_id_is_matched_by_itself(pattern, check_id, matches):
    assert entry(check=pattern).matches(Check.parse(check_id)) == matches


@pytest.mark.parametrize("status", ["pass", "fail", "limit", "error", "unsupported", "noted", "not run"])
def test_only_what_fails_becomes_known(status):
    result = Result(Check.parse(ENTRY["check"]), status, "off by 7", load=7.5, seconds=0.5)
    found = of(entry()).apply(result)
    if status in ("fail", "error"):
        assert (found.status, found.load, found.check) == ("known", 7.5, result.check)
        assert found.reason == "rounds the gates, https://example.org/7;\noff by 7"
    else:
        assert found == result


def test_what_no_entry_matches_stays_a_failure():
    other = Result(Check.parse("gla/long:recurrent:fp32:golden"), "fail")
    assert of(entry()).apply(other) == other
    assert of(entry(), entry(check="gla/l*:*:*:*")).apply(other).status == "known"


@pytest.mark.parametrize("version", ["1.31", "1.32.0", "1.33", "main"])
@pytest.mark.parametrize("status", ["fail", "error"])
def test_an_entry_that_is_true_is_no_error(status, version):
    assert complaints(entry(), run_of(failing=ENTRY["check"], status=status), version=version) == ()


def test_one_failure_is_enough_for_a_pattern():
    assert complaints(entry(check="gla/*:*:*:golden"), run_of(Selection(level="full"), "gla/long:recurrent:fp64")) == ()


VERSIONS = pytest.mark.parametrize(
    ("version", "judged"), [("1.31.9", False), ("1.32", True), ("1.32.1", True), ("1.40.0.dev3", True), ("", True)]
)


@VERSIONS
@pytest.mark.parametrize("status", ["pass", "limit", "unsupported"])
def test_what_no_longer_fails_must_go_from_the_version_on_that_was_seen(version, judged, status):
    found = complaints(entry(), run_of(failing=ENTRY["check"], status=status), version=version)
    assert len(found) == judged
    named = f"mylib {version}" if version else "mylib"
    for text in found:
        assert text == (
            f"known.toml, failure 1: nothing that matches {ENTRY['check']} fails with {named}; remove the entry"
        )


@VERSIONS
def test_what_matches_no_check_at_all_must_go(version, judged):
    found = complaints(entry(check="gla/od-dims:recurrent:fp32:golden"), run_of(), version=version)
    assert len(found) == judged
    for text in found:
        assert "no check of mylib matches gla/od-dims:recurrent:fp32:golden; correct the pattern" in text


@VERSIONS
def test_an_expired_entry_excuses_nothing_and_must_go(version, judged):
    over = entry(expires=TODAY - timedelta(days=1))
    results = run_of(failing=ENTRY["check"])
    assert ("expired on 2026-11-28; see whether https" in "".join(complaints(over, results, version=version))) == judged
    statuses = {of(over, version=version).apply(result).status for result in results}
    assert statuses == ({"pass", "fail"} if judged else {"pass", "known"})


def test_an_entry_is_good_until_the_end_of_its_day():
    results = run_of(failing=ENTRY["check"])
    assert complaints(entry(expires=TODAY), results) == ()
    assert "fail" not in {of(entry(expires=TODAY)).apply(result).status for result in results}


@pytest.mark.parametrize(
    "selection",
    [
        Selection(variants=("kda",)),
        Selection(profiles=("fp64",)),
        Selection(forms=("recurrent.fused",)),
    ],
)
@pytest.mark.parametrize(
    "changes",
    [{}, {"check": "gla/od-dims:recurrent:fp32:golden"}, {"expires": date(2000, 1, 1)}],
    ids=["passes", "matches nothing", "expired"],
)
def test_what_the_selection_leaves_out_is_not_judged(selection, changes):
    assert complaints(entry(**changes), run_of(selection), selection) == ()
    assert complaints(entry(**changes), run_of()) != ()


def test_a_misspelt_scenario_is_told_by_every_selection_that_could_have_had_it():
    for selection in (
        Selection(variants=("gla",)),
        Selection(forms=("recurrent",)),
        Selection(forms=("recurrent.fused",), level="smoke"),
    ):
        assert complaints(entry(check="gla/od-dims:recurrent*:fp32:golden"), run_of(selection), selection) != ()


@pytest.mark.parametrize("pattern", ["gla/*:recurrent:fp32:golden", "*/odd-dims:*:*:golden"])
def test_a_pattern_is_judged_only_by_a_run_of_all_its_checks(pattern):
    """The check that fails may be one that was not run."""
    results = run_of(Selection(level="full"))
    assert len(complaints(entry(check=pattern), results)) == 1
    unreached = next(n for n, result in enumerate(results) if entry(check=pattern).matches(result.check))
    without = [*results[:unreached], Result(results[unreached].check, "not run"), *results[unreached + 1 :]]
    assert complaints(entry(check=pattern), without) == ()
    assert complaints(entry(check=pattern), run_of(Selection(level="smoke"))) == ()


def test_drawn_cases_count_whatever_their_seed():
    drawn = [Result(Check("gla", f"live(seed={n},examples=5)", "recurrent", "fp32", "live"), "pass") for n in (7, 8)]
    drawn[1] = of(entry(check="*/*:*:*:live")).apply(replace(drawn[1], status="fail"))
    assert complaints(entry(check=drawn[1].check.id), drawn) == ()
    assert "fails with mylib" in complaints(entry(check=drawn[0].check.id), drawn)[0]


@pytest.mark.parametrize(
    ("version", "seen", "answer"),
    [
        ("1.31.2", "1.32", True),
        ("1.9", "1.10", True),
        ("1.32.0rc1", "1.32.0", True),
        ("1.32", "1.32.0", False),
        ("1.32.0+cpu", "1.32.0", False),
        ("2", "1.32.0", False),
        ("", "1.32.0", False),
        ("main-3f2a", "1.32.0", False),
    ],
)
def test_versions_are_compared_as_packages_are(version, seen, answer):
    assert older(version, seen) == answer
