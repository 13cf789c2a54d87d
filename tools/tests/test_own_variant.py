"""A variant of one's own, in a file: it gets everything that ours have."""

import json
import re
import shlex
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from commandline import OneThread, run
from hypothesis import given, settings
from own_variant import FILE, write_backend, write_variant

import linattn
import linattn_golden
import linattn_spec
from linattn import own
from linattn.numbers import adjoints
from linattn_spec import strategies
from linattn_spec.results import Check
from linattn_tools.commands import mutants
from linattn_tools.golden import certifier, generator

FORMS = ("recurrent", "chunkwise", "parallel")


@pytest.fixture(autouse=True)
def mine(empty_folder, monkeypatch, capsys):
    monkeypatch.setenv(own.FILES, "")
    monkeypatch.setenv(linattn_golden.FOLDERS, "")
    monkeypatch.setattr(generator, "ProcessPoolExecutor", OneThread)
    monkeypatch.setattr(mutants, "ProcessPoolExecutor", OneThread)
    write_variant(FILE)
    assert capsys.readouterr().out == f"wrote {FILE}; prove it with: linattn prove {FILE}\n"


def marks(out):
    """What ``prove`` printed."""
    return {name: mark for mark, name in re.findall(r"^filtered_gla +([=≠]) (.+)$", out, re.MULTILINE)}


def test_it_is_proven(capsys):
    assert run("prove", FILE) == 0
    found = marks(capsys.readouterr().out)
    assert [name.split()[0] for name in found] == ["recurrent"] * 4 + ["one", "gradients"]
    assert set(found.values()) == {"="}


def test_a_wrong_closed_form_is_no_proof(capsys):
    write_variant("wrong.py", ("kept = 1 - np.exp(log_pole)", "kept = np.exp(log_pole)"))
    assert run("prove", "wrong.py", "--points", 1) == 1
    assert set(marks(capsys.readouterr().out).values()) == {"≠"}


def test_wrong_gradients_are_no_proof(capsys, monkeypatch):
    """A tape that forgets a factor: the forms agree all the same."""
    monkeypatch.setitem(adjoints.UFUNCS, np.exp, adjoints.elementwise(np.exp, lambda g, y, x: g))
    assert run("prove", FILE, "--points", 1) == 1
    wrong = [name for name, mark in marks(capsys.readouterr().out).items() if mark == "≠"]
    assert [name.split()[0] for name in wrong] == ["gradients"]


def test_it_is_explained(capsys):
    assert run("explain", FILE) == 0
    page = capsys.readouterr().out
    assert page.startswith("Filtered gated linear attention: the values pass a bank of low-pass filters")
    assert "log_pole   (..., F)   natural logarithm of the pole of each filter; <= 0" in page
    assert "def parallel(S, m, q, k, v, log_decay, log_pole, gain, scale):" in page


def test_our_folds_are_right_in_worker_processes(capsys, monkeypatch):
    monkeypatch.setattr(generator, "ProcessPoolExecutor", ProcessPoolExecutor)
    assert run("check", "numpy", "--variant", FILE, "--profile", "fp32", "--level", "smoke", "--html", "page.html") == 0
    out = capsys.readouterr().out
    assert all(re.search(rf"^filtered_gla {form} fp32: (\d+) of \1 passed$", out, re.MULTILINE) for form in FORMS)
    assert "Filtered gated linear attention" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_workers")
def test_a_right_backend_passes_golden_values_laws_and_live_draws():
    backend = write_backend("right.py")
    assert run("check", backend, "--variant", FILE, "--live", 3, "--json", "all.json") == 0
    content = json.loads(Path("all.json").read_text())
    passed = {Check.parse(result["id"]).kind for result in content["results"] if result["status"] == "pass"}
    assert {"golden", "split", "superposition", "channels", "live"} <= passed
    assert content["environment"]["variants"] == [FILE]
    assert not linattn_golden.folders()[1:]  # the values were there for the command alone


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize(
    ("mistake", "change"),
    [
        ("scale-missing", ("np.float32(scale) * ", "")),
        ("gate-halved", ("np.exp(log_decay[:, t])", "np.exp(log_decay[:, t] / 2)")),
        ("initial-state-ignored", ("initial_state or (", "None or (")),
    ],
)
def test_a_wrong_backend_fails_and_its_mistake_is_named(capsys, mistake, change):
    write_backend("wrong.py", change)
    assert run("check", "wrong.py", "--variant", FILE, "--level", "smoke") == 1
    out = capsys.readouterr().out
    assert f"looks like `{mistake}` (coefficient 1.00)" in " ".join(out.split())
    again = next(line for line in out.splitlines() if "linattn repro" in line)
    assert run(*shlex.split(again)[1:]) == 1  # the command that is printed
    assert "first wrong at" in capsys.readouterr().out


def test_mistakes_that_apply_are_rejected(capsys):
    names = ("scale-missing", "beta-ignored", "initial-state-ignored", "gradient-k-zero")
    assert run("mutants", *names, "--variant", FILE, "--profile", "fp32") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    cells = {row[0]: row[-4:-1] for row in rows if row and row[0] in names}
    assert cells == {  # it has no beta
        "scale-missing": ["1/1"] * 3,
        "initial-state-ignored": ["1/1"] * 3,
        "gradient-k-zero": ["1/1", "-", "-"],
    }


@pytest.fixture
def kept(monkeypatch):
    """Golden values that are kept, and an environment that says so."""
    assert run("golden", "generate", "--variant", FILE, "--out", "values") == 0
    monkeypatch.setenv(own.FILES, FILE)
    monkeypatch.setenv(linattn_golden.FOLDERS, "values")


def test_golden_values_are_the_same_bytes_by_all_forms(kept):
    cases = list(linattn_golden.cases("filtered_gla", "certified"))
    assert any(case.cotangents for case in cases)
    case = linattn_golden.case("filtered_gla/odd-dims")
    data = linattn_golden.load(case)
    names = ("output", "final_state/S", "final_state/m")
    for form in FORMS:
        proven, _ = certifier.proven(case, data, form, chunk_size=3)
        for name, stored in zip(names, (data.output, *data.final_state), strict=True):
            assert proven[name].tobytes() == stored.tobytes()


def by_our_folds(factor):
    """What a researcher's own test may judge, times a factor."""

    def call(q, k, v, log_decay, log_pole, gain, scale, initial_state):
        arrays = {"q": q, "k": k, "v": v, "log_decay": log_decay[..., None], "log_pole": log_pole, "gain": gain}
        output, state = linattn.prefill("filtered_gla", initial_state=initial_state, scale=scale, **arrays)
        return np.float32(factor) * output, state

    return call


def test_kept_values_are_found_by_ones_own_tests(kept):
    linattn_spec.check(by_our_folds(1), "filtered_gla", layout="BHTD", form="chunkwise")
    with pytest.raises(AssertionError, match="2 times the right values"):
        linattn_spec.check(by_our_folds(2), "filtered_gla", layout="BHTD", form="chunkwise")


def test_kept_values_are_found_by_commands_that_are_given_names(kept, capsys):
    assert run("list") == 0
    assert re.search(r"^filtered_gla +gated linear attention whose values pass", capsys.readouterr().out, re.MULTILINE)
    assert run("golden", "show", "filtered_gla/one-token") == 0
    assert "proven: results at" in capsys.readouterr().out


def test_golden_values_are_shown(capsys):
    assert run("golden", "show", "filtered_gla", "--variant", FILE) == 0
    shown = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert "filtered_gla/gates-reset" in shown
    assert all(case.startswith("filtered_gla/") for case in shown)


def test_cases_are_drawn_from_its_record():
    record, widths = linattn.variant(FILE), set()

    @settings(max_examples=30)
    @given(strategies.inputs(record))
    def forms_agree(example):
        found = [
            linattn.prefill(record, form=form, initial_state=example.data.initial_state, **example.data.inputs)[0]
            for form in FORMS
        ]
        dims = example.case.dims
        assert found[0].shape == (dims["B"], max(dims["Hq"], dims["Hv"]), dims["T"], dims["V"])
        assert all(np.allclose(x, found[0], rtol=1e-9, atol=1e-9) for x in found)
        widths.add(dims["F"])

    forms_agree()
    assert len(widths) > 1


def test_a_recurrence_alone_is_judged(capsys):
    write_variant("alone.py", ("parallel=parallel,", "parallel=None,"), ('name="filtered_gla"', 'name="alone"'))
    assert run("prove", "alone.py") == 0
    assert run("check", "numpy", "--variant", "alone.py", "--profile", "fp32", "--level", "smoke") == 0
    assert "alone recurrent fp32: " in capsys.readouterr().out
