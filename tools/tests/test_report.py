"""The report: whatever a run holds stands in its place in the matrix, and on the terminal."""

import io
import math
import shlex
from collections import Counter
from dataclasses import replace

import pytest
from handmade import EACH_SUBSET, PLACES, result, run_of, some_of_each
from rich.console import Console

import linattn
from linattn.record import FORMS
from linattn_spec.results import STATUSES, Result
from linattn_tools.report import terminal
from linattn_tools.report.matrix import Cell, Column, failures, matrix, percent, reproduce, unsupported


def printed(run, width=100):
    console = Console(file=io.StringIO(), width=width)
    terminal.print_matrix(run, console)
    return console.file.getvalue()


def test_every_status_stands_in_its_own_cell_and_nowhere_else():
    run = some_of_each()
    cells = {(v.name, c.name, c.profile): cell.counts for v, c, cell in matrix(run).planned}
    assert cells == {PLACES[status]: Counter({status: run.counts[status]}) for status in STATUSES}


def test_rows_are_the_variants_of_the_run_and_the_profiles_of_an_implementation_stay_together():
    orders = [("parallel", "fp32"), ("recurrent.b", "bf16"), ("recurrent.a", "bf16"), ("recurrent.b", "fp32")]
    whole = matrix(run_of(*(result("pass", ("kda", *column)) for column in orders)))
    assert [row.variant.name for row in whole.rows] == ["kda"]
    assert whole.absent == tuple(v.name for v in linattn.VARIANTS if v.name != "kda")
    b, a, parallel = whole.implementations
    assert (b, a, parallel) == (
        [Column("recurrent.b", "bf16"), Column("recurrent.b", "fp32")],
        [Column("recurrent.a", "bf16")],
        [Column("parallel", "fp32")],
    )


@EACH_SUBSET
def test_the_gravest_status_agrees_with_the_exit_code(statuses):
    run = some_of_each(statuses)
    assert (Cell(run.results).status in ("pass", "limit", "known")) == (run.exit_code == 0)


@pytest.mark.parametrize(
    ("results", "load"),
    [
        ([], None),
        ([("error", None), ("unsupported", None)], None),
        ([("pass", 0.2), ("pass", 0.7), ("error", None)], 0.7),
        ([("pass", 0.2), ("fail", 12.5)], 12.5),
        ([("pass", 0.2), ("fail", None)], math.inf),  # a wrong shape has no load
    ],
)
def test_the_worst_load_of_a_cell(results, load):
    assert Cell(tuple(result(status, load=load) for status, load in results)).load == load


def test_an_infinite_load_survives_the_log():
    logged = Result.from_json(result("fail", load=math.inf).to_json())
    assert Cell((logged,)).load == math.inf


@pytest.mark.parametrize(
    ("load", "text"),
    [(0, "0 %"), (0.314, "31 %"), (0.9999, "99 %"), (1.0, "100 %"), (1.0001, "101 %"), (math.inf, "> 999 %")],
)
def test_a_load_never_looks_to_lie_on_the_other_side_of_the_limit(load, text):
    assert percent(load) == text


def test_failures_that_begin_alike_are_one_group():
    places = [("kda", "recurrent", "fp32"), ("gla", "recurrent", "fp32"), ("kda", "recurrent", "bf16")]
    results = [result("error", place, case, reason=case) for place in places for case in ("a", "b")]
    first, second = failures(matrix(run_of(*results, result("fail", reason="wrong"))))
    assert (first.status, second.status) == ("fail", "error")
    assert (len(second.places), len(second.results), second.results[0].check.variant) == (3, 6, "gla")


def test_reasons_are_counted_without_what_is_particular_to_a_case():
    reasons = ("accepts K in (64, 128); the case has K=5", "accepts K in (64, 128); the case has K=7", "no state")
    run = run_of(*(result("unsupported", reason=reason) for reason in reasons), result("fail", reason="no state"))
    assert unsupported(run) == [("accepts K in (64, 128)", 2), ("no state", 1)]


def test_the_command_reaches_the_program_as_it_was():
    failing = result("fail")
    words = shlex.split(reproduce(run_of(failing), failing))
    assert words == ["linattn", "repro", failing.check.id, "--backend", "my kernels.py"]


def test_the_terminal_shows_why_and_the_command_that_runs_it_again_on_one_line():
    run = some_of_each()
    lines = [line.strip() for line in printed(run, width=40).splitlines()]
    for group in failures(matrix(run)):
        assert reproduce(run, group.results[0]) in lines
        assert group.results[0].reason.split()[-1] in " ".join(lines)
    assert "[red]0[/red];" in " ".join(lines)  # brackets are no markup
    assert (
        lines[-1] == "2 passed, 3 failed, 4 limit, 5 error, 6 known, 7 noted, 8 unsupported, 9 not run; 0.0 s of checks"
    )


def test_known_failures_that_are_not_true_stand_before_the_summary():
    run = replace(run_of(result("pass")), complaints=("known.toml, failure [2]: expired", "another"))
    lines = [line for line in printed(run, width=30).splitlines() if line.strip()]
    assert lines[-3:-1] == ["KNOWN FAILURES known.toml, failure [2]: expired", "KNOWN FAILURES another"]
    assert run.exit_code == 1


def test_a_function_and_a_profile_are_one_line():
    results = [result(status) for status in ("pass", "pass", "fail", "known", "unsupported", "noted", "not run")]
    assert terminal.place_line(results) == "kda recurrent fp32: 2 of 4 passed, 1 known, 1 not run"


def test_the_terminal_lists_a_few_kinds_of_failure_and_counts_the_rest():
    places = [(variant.name, form, "fp32") for variant in linattn.VARIANTS for form in ("recurrent", "chunkwise")]
    run = run_of(*(result("fail", place, case, reason=str(place)) for place in places for case in ("a", "b")))
    text = printed(run)
    assert text.count("linattn repro") == terminal.SHOWN
    assert f"... and {2 * (len(places) - terminal.SHOWN)} more of status fail\n" in text


@pytest.mark.parametrize(("width", "parts"), [(50, 4), (80, 2), (200, 1)])
def test_a_matrix_that_is_wider_than_the_terminal_comes_in_parts_with_every_cell_whole(width, parts):
    """A variant is in those parts that say something of it."""
    profiles = ["fp64", "fp32", "bf16", "fp16"]
    places = [(name, form, p) for name, form in (("kda", "recurrent"), ("gla", "bidirectional")) for p in profiles]
    text, _, _ = printed(run_of(*(result("limit", place) for place in places)), width).partition("✓ passed")
    heads = [line.split()[1:] for line in text.splitlines() if "variant" in line]
    assert [name for head in heads for name in head] == 2 * profiles
    assert len(heads) == parts
    assert max(map(len, text.splitlines())) <= width
    assert text.count("(1 limit)") == len(places)
    assert text.count("Kimi delta attention") == text.count("Gated linear") == (parts + 1) // 2


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ({"pass": 36}, "✓ 36"),
        ({"pass": 33, "fail": 2, "error": 1, "limit": 4, "not run": 5}, "✗ 3/40"),
        ({"pass": 34, "limit": 2, "unsupported": 7}, "36\n(2 limit)"),
        ({"pass": 34, "limit": 2, "not run": 7}, "36\n(7 not run)"),
        ({"pass": 34, "known": 2, "noted": 5}, "36\n(2 known)"),
        ({"unsupported": 7}, "unsupported"),
        ({}, "-"),
    ],
)
def test_the_headline_of_a_cell(counts, text):
    results = (result(status) for status, count in counts.items() for _ in range(count))
    assert terminal.headline(Cell(tuple(results)), "✓✗") == text


def test_a_terminal_without_unicode_gets_plain_marks():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    terminal.print_matrix(some_of_each(), Console(file=stream, width=120))
    stream.seek(0)
    assert "+ 2" in stream.read()


def test_the_terminal_keeps_every_column_at_80_characters():
    columns = [(form, profile) for form in FORMS for profile in ("fp32", "fp64")]
    run = run_of(*(result("pass", ("kda", *column), load=0.5) for column in columns))
    assert printed(run, width=80).count("50 %") == len(columns)


def test_a_result_is_one_line():
    failing = result("error", reason="first\n  second [0]")
    assert terminal.status_line(failing) == "ERROR kda/one-token:recurrent:fp32:golden first second [0]"
