"""``linattn mutants``: a row per mistake, and an exit code that says whether all are rejected."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import pytest
from commandline import run

import linattn
from linattn_spec import mistakes
from linattn_spec.mistakes import MISTAKES, mistake, power
from linattn_spec.mistakes.power import Trial
from linattn_spec.mistakes.record import right
from linattn_tools.commands import mutants

CHOSEN = ("scale-missing", "outputs-through-bfloat16")


class OneThread(ThreadPoolExecutor):
    """The work of the processes, in this one: it starts faster, and sees what a test has changed."""

    def __init__(self, mp_context):
        super().__init__(max_workers=1)


@pytest.fixture
def small(monkeypatch):
    """One variant, in this process."""
    monkeypatch.setattr(mutants, "VARIANTS", (linattn.variant("linear_attention"),))
    monkeypatch.setattr(mutants, "ProcessPoolExecutor", OneThread)


@pytest.fixture
def harmless(small, monkeypatch):
    """A catalogue of one mistake, which changes nothing."""
    catalogue = (replace(mistake("scale-missing"), id="nothing-wrong", wrong=right),)
    monkeypatch.setattr(mistakes, "MISTAKES", catalogue)
    monkeypatch.setattr(power, "MISTAKES", catalogue)


def rows_of(text):
    """The cells of every mistake, as many as the header has, and the last line."""
    header, *rows, empty, last = text.splitlines()
    assert empty == ""
    cells = len(header.split("kind")[1].split()) // 2  # a column is a profile and a form
    return {row.split()[0]: row.split()[-cells:] for row in rows}, last


def test_every_mistake_has_a_row_and_is_rejected(small, capsys):
    assert run("mutants", "--profile", "fp32") == 0
    rows, last = rows_of(capsys.readouterr().out)
    assert list(rows) == [one.id for one in MISTAKES]
    variant = linattn.variant("linear_attention")
    for one in MISTAKES:
        assert rows[one.id] == ["1/1" if one.applies(variant, form) else "-" for form in mutants.CAUSAL]
    count = sum(cell != "-" for cells in rows.values() for cell in cells)
    assert last.startswith(f"{count} of {count} mutants rejected, ")


def test_processes_give_the_same_rows_and_the_whole_matrix_as_json(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(mutants, "VARIANTS", (linattn.variant("linear_attention"),))
    file = tmp_path / "matrix.json"
    assert run("mutants", *CHOSEN, "--json", file) == 0
    rows, last = rows_of(capsys.readouterr().out)
    assert rows == {"scale-missing": ["1/1"] * 9, "outputs-through-bfloat16": ["1/1"] * 3 + ["-"] * 6}
    assert last == "12 of 12 mutants rejected, 12 named, 12 rejected without their own signature"
    trials = json.loads(file.read_text())
    assert len({(t["mistake"], t["variant"], t["form"], t["profile"]) for t in trials}) == len(trials) == 12
    assert all(trial.keys() == {field.name for field in fields(Trial)} for trial in trials)
    assert all(0 < trial["killed"] <= trial["judged"] for trial in trials)


def test_only_the_profiles_asked_for(small, capsys):
    assert run("mutants", "scale-missing", "--profile", "fp16") == 0
    rows, last = rows_of(capsys.readouterr().out)
    assert rows == {"scale-missing": ["1/1"] * 3}
    assert last.startswith("3 of 3 mutants rejected")


def test_a_survivor_is_counted_and_is_a_failure(harmless, capsys):
    assert run("mutants") == 1
    rows, last = rows_of(capsys.readouterr().out)
    assert rows == {"nothing-wrong": ["0/1"] * 9}
    assert last == "0 of 9 mutants rejected, 0 named, 0 rejected without their own signature"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["scale-forgotten"], "there is no mistake 'scale-forgotten'; linattn mutants lists them"),
        (["scale-missing", "scale-forgotten"], "there is no mistake 'scale-forgotten'"),
        (["--profile", "fp23"], "no mutant is tried in profile 'fp23'; there are fp32, bf16, fp16"),
        (["--profile", "fp32", "--profile", "fp64"], "no mutant is tried in profile 'fp64'"),
        (["state-in-bfloat16", "--profile", "bf16"], "no mutant is tried in profile 'bf16'"),
    ],
)
def test_what_selects_nothing_is_refused(words, reason, capsys):
    """Nothing that was tried is nothing that was rejected."""
    assert run("mutants", *words) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith(f"linattn: {reason}")
