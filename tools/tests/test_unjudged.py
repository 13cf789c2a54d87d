"""What a run could not judge is said for every function and profile."""

import json

import pytest
from handmade import result, run_of
from test_report_page import Page

import linattn_golden
from linattn_spec.mistakes import MISTAKES
from linattn_tools.commands import check
from linattn_tools.report import html
from linattn_tools.report.unjudged import unjudged

PLACE = ("gated_delta_rule", "recurrent", "fp32")
CASES = [case.id.split("/")[1] for case in linattn_golden.cases("gated_delta_rule", "certified")]


def test_reasons_and_undetermined_values_stand_by_their_function():
    run = run_of(
        result("unsupported", PLACE, "one-token", reason="takes no beta"),
        result("unsupported", PLACE, "odd-dims", reason="takes no beta"),
        result("unsupported", PLACE, "square", reason="accepts K == 64; the case has K=4"),
        result("pass", PLACE, "long", reason="12 values undetermined"),
        result("pass", PLACE, "long", kind="split", reason="12 values undetermined"),  # the same values
        result("pass", PLACE, "two-tokens", reason="3 values undetermined"),
        result("pass", ("kda", "chunkwise.fused", "mine"), "long"),
    )
    kda, ours = sorted(unjudged(run), key=lambda one: one.undetermined)
    assert ours.unsupported == {"takes no beta": 2, "accepts K == 64": 1}
    assert ours.undetermined == 15
    assert (kda.variant, kda.column, kda.profile, kda.unsupported) == ("kda", "chunkwise.fused", "mine", {})
    assert kda.unseen is None  # nobody knows the units of this profile


def test_mistakes_that_no_judged_case_sees_are_named():
    def unseen(*judged, status="pass"):
        return set(unjudged(run_of(*(result(status, PLACE, scenario) for scenario in judged)))[0].unseen)

    assert unseen(*CASES) == set()
    assert unseen("one-token") > unseen("one-token", "square")
    assert "scale-missing" not in unseen("square")
    assert "chunk-state-not-carried" not in unseen("one-token")  # no mistake of this form
    everything = unseen("recipe-64")  # a recipe has no signatures
    assert everything == unseen(*CASES, status="unsupported")
    assert everything <= {mistake.id for mistake in MISTAKES}
    assert len(everything) > 40


def test_the_page_says_it():
    run = run_of(result("pass", PLACE, "one-token"), result("unsupported", PLACE, "square", reason="takes no <beta>"))
    texts = Page(html.render(run, unjudged(run))).of("td")
    assert "1: takes no <beta>" in texts
    assert ", ".join(unjudged(run)[0].unseen) in texts


def test_the_page_is_silent_where_all_was_judged():
    run = run_of(*(result("pass", PLACE, scenario) for scenario in CASES))
    assert "What could not be judged" not in html.render(run, unjudged(run))


@pytest.mark.parametrize("scenario", ["one-token", "recipe-64"])
def test_the_json_has_it(tmp_path, scenario):
    from argparse import Namespace

    run = run_of(result("pass", PLACE, scenario, reason="2 values undetermined"))
    check.write_reports(run, Namespace(json=tmp_path / "report.json", html=None))
    (one,) = json.loads((tmp_path / "report.json").read_text())["unjudged"]
    assert (one["variant"], one["column"], one["profile"], one["undetermined"]) == (*PLACE, 2)
    assert one["unseen"] == list(unjudged(run)[0].unseen)
