"""``linattn check``: the exit code, what is selected, and what the reports hold."""

import json
import sys
from collections import Counter

import pytest
from commandline import run, write_adapter

from linattn_spec import load
from linattn_spec.plan import plan
from linattn_spec.verdict import LIMITS

WRONG = ("FACTOR = 1.0", "FACTOR = 1.5")
NOT_A_NUMBER = ("FACTOR = 1.0", "FACTOR = np.float32(np.nan)")
RAISING = ("    count()\n", "    raise RuntimeError('out of memory')\n")


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def report(path):
    return json.loads(path.read_text(), parse_constant=no_constant)


def test_a_right_implementation_in_workers(capsys):
    words = ("--variant", "linear_attention", "--form", "parallel", "--profile", "fp32")
    assert run("check", "numpy", *words, "--json", "all.json") == 0
    assert "linear_attention parallel fp32: " in capsys.readouterr().out


@pytest.mark.parametrize("workers", [True, False])
def test_a_wrong_implementation(capsys, tmp_path, request, workers):
    """Other processes say the same as this one."""
    if not workers:
        request.getfixturevalue("no_workers")
    path = write_adapter(tmp_path / "wrong.py", WRONG)
    assert run("check", path, "--variant", "linear_attention", "--form", "recurrent") == 1
    out = capsys.readouterr().out
    failed = [line.split()[1] for line in out.splitlines() if line.startswith("FAIL linear_attention/")]
    scenarios = ("by-hand", "one-token", "two-tokens")  # the first ones; the reports have all
    assert failed == [f"linear_attention/{scenario}:recurrent:fp32:golden" for scenario in scenarios]
    assert "1.5 times the right values" in out


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize(
    ("change", "statuses", "code"),
    [
        (("", ""), {"pass", "noted", "unsupported"}, 0),
        (WRONG, {"fail", "pass", "noted", "unsupported"}, 1),  # its results are consistent: the laws hold
        (NOT_A_NUMBER, {"fail", "pass", "noted", "unsupported"}, 1),  # of no tokens there is no number
        (RAISING, {"error", "pass", "unsupported"}, 1),  # no tokens may be refused
        (("K < 64", "K < 1"), {"unsupported"}, 2),
    ],
)
def test_the_report_as_json(tmp_path, change, statuses, code):
    path = write_adapter(tmp_path / "adapter.py", change)
    assert run("check", path, "--variant", "linear_attention", "--json", "reports/all.json") == code
    content = report(tmp_path / "reports" / "all.json")
    found = Counter(result["status"] for result in content["results"])
    assert found.keys() == statuses
    assert content["counts"] == found
    assert content["exit_code"] == code
    assert content["limits"] == LIMITS
    environment = content["environment"]
    assert (environment["backend"], environment["title"], environment["version"]) == (str(path), "Hand <made>", "1.2")
    assert environment["python"] == sys.version.split()[0]
    planned = [check.id for check in plan(load(str(path))) if check.variant == "linear_attention"]
    assert [result["id"] for result in content["results"]] == planned


@pytest.mark.usefixtures("no_workers")
def test_the_report_as_a_page(capsys, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    assert run("check", path, "--variant", "linear_attention", "--html", "reports/page.html") == 1
    page = (tmp_path / "reports" / "page.html").read_text(encoding="utf-8")
    assert "Hand &lt;made&gt;" in page
    assert "linear_attention/one-token:recurrent:fp32:golden" in page
    assert "wrote" in capsys.readouterr().out


LINEAR, NORMALISED = "linear_attention", "normalised_linear_attention"
FAST = "bidirectional.fast"


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize(
    ("words", "functions"),
    [
        (
            f"--variant {LINEAR} --profile fp32 --profile bf16",
            {(LINEAR, column, profile) for column in ("recurrent", FAST) for profile in ("fp32", "bf16")},
        ),
        ("--form bidirectional --profile fp32", {(LINEAR, FAST, "fp32")}),
        ("--form bidirectional.fast --profile fp64", {(LINEAR, FAST, "fp64")}),
        (
            f"--profile fp32 --variant {LINEAR} --variant {NORMALISED} --form recurrent",
            {(LINEAR, "recurrent", "fp32"), (NORMALISED, "recurrent", "fp32")},
        ),
    ],
)
def test_selection(tmp_path, words, functions):
    """What is selected is planned, whole, and nothing else. (No case is accepted: none has to be computed.)"""
    more = (
        ('version="1.2"', 'profiles=("fp32", "fp64", "bf16")'),
        ("K < 64", "K < 0"),
        ('al", acc', 'al", label="fast", acc'),
    )
    path = write_adapter(tmp_path / "adapter.py", *more)
    assert run("check", path, *words.split(), "--json", "all.json") == 2
    planned = [result["id"] for result in report(tmp_path / "all.json")["results"]]
    want = [c.id for c in plan(load(str(path))) if (c.variant, c.column, c.profile) in functions]
    assert planned == want


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nothing", "backend nothing: expected one of numpy, onnx-reference, onnxruntime, transformers"),
        ("no.py", "backend no.py: no such file"),
        ("no_module:backend", "No module named 'no_module'"),
        ("linattn:VARIANTS", "backend linattn:VARIANTS: expected a linattn_spec.Backend; got tuple"),
        ("numpy --variant gla --form bidirectional", "numpy implements nothing of what was selected"),
        ("numpy --variant gla --variant glaa", "numpy has no variant 'glaa'; it has abc, alibi, "),
        (
            "numpy --form recursive",
            "numpy has no form 'recursive'; it has bidirectional, chunkwise, parallel, recurrent",
        ),
        ("numpy --profile fp32 --profile fp16", "numpy has no profile 'fp16'; it has fp32, fp64"),
    ],
)
def test_nothing_could_be_judged(capsys, words, message):
    assert run("check", *words.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("linattn: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("import no_such_library", "linattn: backend bad.py: No module named 'no_such_library'"),
        ("1 / 0", "linattn: backend bad.py cannot be loaded: ZeroDivisionError: division by zero"),
        ("x = (", "linattn: backend bad.py cannot be loaded: SyntaxError: '(' was never closed (bad.py, line 1)"),
        ("backend = 1", "linattn: backend bad.py: expected a linattn_spec.Backend; got int"),
    ],
)
def test_a_backend_that_cannot_be_loaded(capsys, tmp_path, text, last):
    """Nothing could be judged; what went wrong in the file is shown with its line."""
    (tmp_path / "bad.py").write_text(text)
    assert run("check", "bad.py") == 2
    *traceback, line = capsys.readouterr().err.splitlines()
    assert line == last
    assert not traceback or any('bad.py", line 1' in shown for shown in traceback)


@pytest.mark.parametrize("command", [("check",), ("repro", "kda/long:recurrent:fp32:golden", "--backend")])
@pytest.mark.parametrize("name", ["onnxruntime", "onnx-reference"])
def test_what_a_backend_needs_is_named_with_the_command_that_installs_it(capsys, monkeypatch, command, name):
    for package in ("onnx", "onnxruntime"):
        monkeypatch.setitem(sys.modules, package, None)
    for module in ("onnx_runtime", "onnx_reference", "onnx_operator"):
        monkeypatch.delitem(sys.modules, f"linattn_spec.backends.{module}", raising=False)
    assert run(*command, name) == 2
    assert capsys.readouterr().err.rstrip().endswith("; pip install 'linattn[onnx]'")
