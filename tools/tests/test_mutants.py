"""``linattn mutants``: a row per mistake, and an exit code that says whether all are rejected."""

import json
import re
from dataclasses import fields, replace

import pytest
from commandline import OneThread, run

import linattn
import linattn_golden
from linattn_spec import mistakes
from linattn_spec.mistakes import MISTAKES, backward_power, gradients, mistake, power
from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES
from linattn_spec.mistakes.power import Trial
from linattn_spec.mistakes.record import right
from linattn_tools.commands import mutants

CHOSEN = ("scale-missing", "outputs-through-bfloat16")


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
    monkeypatch.setattr(gradients, "GRADIENT_MISTAKES", ())
    monkeypatch.setattr(backward_power, "GRADIENT_MISTAKES", ())


def rows_of(text):
    """The cells of every mistake, as many as the header has, and the lines of the summary by what is summed up."""
    table, summary = text.rstrip("\n").split("\n\n")
    header, *rows = table.splitlines()
    cells = len(header.split("kind")[1].split()) // 2  # a column is a profile and a form
    return {row.split()[0]: row.split()[-cells:] for row in rows}, dict(
        line.split(": ") for line in summary.splitlines()
    )


def test_every_mistake_has_a_row_and_is_rejected(small, capsys):
    assert run("mutants", "--profile", "fp32") == 0
    rows, summary = rows_of(capsys.readouterr().out)
    every = (*MISTAKES, *GRADIENT_MISTAKES)
    assert list(rows) == [one.id for one in every]
    variant = linattn.variant("linear_attention")
    for one in every:
        tried = "fp32" in one.profiles
        assert rows[one.id] == ["1/1" if tried and one.applies(variant, form) else "-" for form in mutants.FORMS]
    count = sum(one.applies(variant, form) for one in MISTAKES if "golden" in one.seen_by for form in mutants.FORMS)
    backward = sum(one.applies(variant) for one in GRADIENT_MISTAKES)
    assert summary["by golden values"].startswith(f"{count} of {count} mutants rejected, ")
    assert summary["by gradients"].startswith(f"{backward} of {backward} mutants rejected, {backward} named, ")
    laws = re.search(r"^(\d+) of (\d+) mutants rejected$", summary["by laws"])
    assert laws[1] == laws[2]


def test_processes_give_the_same_rows_and_the_whole_matrix_as_json(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(mutants, "VARIANTS", (linattn.variant("linear_attention"),))
    file = tmp_path / "matrix.json"
    assert run("mutants", *CHOSEN, "--json", file) == 0
    out, heard = capsys.readouterr()
    rows, summary = rows_of(out.replace(f"wrote {file}\n", ""))
    assert sorted(line.split(": ", 1)[1] for line in heard.splitlines()) == sorted(
        f"linear_attention {form}: 4 of 4 rejected" for form in mutants.FORMS
    )
    assert rows == {"scale-missing": ["1/1"] * 12, "outputs-through-bfloat16": ["1/1"] * 4 + ["-"] * 8}
    assert summary == {
        "by golden values": "16 of 16 mutants rejected, 16 named, 16 rejected without their own signature"
    }
    written = json.loads(file.read_text())
    assert [one["id"] for one in written["mistakes"]] == list(CHOSEN)
    assert all(one["sentence"] and one["seen_by"] == ["golden"] for one in written["mistakes"])
    trials = written["trials"]
    assert len({(t["mistake"], t["variant"], t["form"], t["profile"]) for t in trials}) == len(trials) == 16
    assert all(trial.keys() == {field.name for field in fields(Trial)} for trial in trials)
    assert all(0 < trial["killed"] <= trial["judged"] for trial in trials)
    shown = {
        (mistake, form, profile)
        for mistake, by_profile in written["cases"].items()
        for profile, by_variant in by_profile.items()
        for form, cases in by_variant["linear_attention"].items()
        if any(units is None or units >= 20 for units in cases.values())
    }
    assert shown == {(t["mistake"], t["form"], t["profile"]) for t in trials}


def test_only_the_profiles_asked_for(small, capsys):
    assert run("mutants", "scale-missing", "--profile", "fp16") == 0
    rows, summary = rows_of(capsys.readouterr().out)
    assert rows == {"scale-missing": ["1/1"] * 4}
    assert summary["by golden values"].startswith("4 of 4 mutants rejected")


def test_a_survivor_is_counted_and_is_a_failure(harmless, capsys):
    assert run("mutants") == 1
    out, heard = capsys.readouterr()
    rows, summary = rows_of(out)
    assert heard.count("nothing-wrong (fp16)") == 4
    assert rows == {"nothing-wrong": ["0/1"] * 12}
    assert summary == {"by golden values": "0 of 12 mutants rejected, 0 named, 0 rejected without their own signature"}


def test_an_interruption_keeps_what_there_is(small, monkeypatch, capsys):
    def measured_at(variant, form, *rest):
        if form == "chunkwise":
            raise KeyboardInterrupt
        return real(variant, form, *rest)

    real = mutants.measured_at
    monkeypatch.setattr(mutants, "measured_at", measured_at)
    assert run("mutants", "scale-missing", "--profile", "fp32") == 1
    out, heard = capsys.readouterr()
    rows, _ = rows_of(out)
    assert rows == {"scale-missing": ["1/1", "-", "-", "-"]}  # one profile, four forms
    assert heard.splitlines()[-1] == "interrupted: what follows is of the variants above"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["scale-forgotten"], "there is no mistake 'scale-forgotten'; did you mean scale-"),
        (["scale-missing", "xyz"], "there is no mistake 'xyz'; linattn mutants --list shows them"),
        (["--list", "xyz"], "there is no mistake 'xyz'; linattn mutants --list shows them"),
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


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_file_that_cannot_be_written_is_refused_before_the_work(option, tmp_path, monkeypatch, capsys):
    def measured(*arguments):
        raise AssertionError("the work has begun")

    monkeypatch.setattr(mutants, "measured", measured)
    assert run("mutants", option, tmp_path) == 2
    assert capsys.readouterr().err == f"linattn: {tmp_path} cannot be written\n"
    file = tmp_path / "file"
    file.write_text("")
    assert run("mutants", option, file / "matrix") == 2  # no folder
    assert str(file) in capsys.readouterr().err


def test_a_page_shows_mistakes_against_forms_and_cases(small, tmp_path, capsys):
    chosen = (*CHOSEN, "strides-ignored")
    page = tmp_path / "new" / "mistakes.html"
    assert run("mutants", *chosen, "--profile", "fp32", "--html", page) == 0
    text = page.read_text(encoding="utf-8")
    assert capsys.readouterr().out.endswith(f"wrote {page}\n")
    for name in chosen:
        assert text.count(f'id="{name}"') == 1
        assert (f'href="#{name}"' in text) == (name != "strides-ignored")  # what laws alone see is in no case
    rows = re.findall(r'<th scope="row"><a href="#scale-missing".*?</tr>', text, re.DOTALL)
    cases = list(linattn_golden.cases("linear_attention", "certified"))
    assert [len(re.findall("<td", row)) for row in rows] == [len(cases)]
    assert "https://github.com/fla-org/flash-linear-attention/issues/759" in text
    assert not re.search(r"(src|href)=.?https?://(?!github)", text)  # it needs no other file
