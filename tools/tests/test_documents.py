"""What the documents show runs: every line of Python, every command."""

import ast
import inspect
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import linattn
from linattn import algebra
from linattn.variants import gated_delta_rule
from linattn_tools.cli import main

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "golden/README.md", "EVIDENCE.md", "SCOPE.md")]
BLOCKS = [
    (path.name, language, text)
    for path in DOCUMENTS
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)
]
PYTHON = [text for _, language, text in BLOCKS if language == "python"]
COMMANDS = [line.split("#")[0].strip() for _, language, text in BLOCKS if not language for line in text.splitlines()]


def my_function(q, k, v, log_decay, beta, scale, initial_state):
    turned = {"q": q, "k": k, "v": v, "log_decay": log_decay[..., None], "beta": beta[..., None]}
    output, state = linattn.prefill(
        "gated_delta_rule", **turned, scale=scale, layout="BTHD", form="recurrent", initial_state=initial_state
    )
    return output, state[0]


@pytest.mark.parametrize("text", PYTHON, ids=[text.splitlines()[0] for text in PYTHON])
def test_python_runs(text):
    exec(text, {"my_function": my_function, "np": np, "read": algebra.read, "outer": algebra.outer})


def test_the_step_that_is_shown_is_the_step():
    shown = next(ast.parse(text).body[0] for text in PYTHON if text.startswith("def step"))
    real = ast.parse(inspect.getsource(gated_delta_rule.step)).body[0]
    assert isinstance(real, ast.FunctionDef)
    real.body = real.body[1:]  # without its docstring
    assert ast.dump(shown) == ast.dump(real)


def test_commands_run(tmp_path, monkeypatch):
    """In the order in which a reader meets them, in an empty folder; a minute of proofs has a test of its own."""
    monkeypatch.chdir(tmp_path)
    ours = [shlex.split(line)[1:] for line in COMMANDS if line.startswith("linattn ")]
    assert ours.count(["golden", "verify"]) > 0
    ours = [words for words in ours if words != ["golden", "verify"]]  # test_golden_verify
    assert len(ours) > 8
    for words in ours:
        assert main(words) == 0, words


def test_make_has_the_targets():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = [line.split()[1] for line in COMMANDS if line.startswith("make ")]
    assert named
    assert set(named) <= set(targets)


def test_the_plain_lines_are_those_of_make():
    """Without make: the same requirements, the same commands."""
    makefile = (ROOT / "Makefile").read_text()
    plain = [line.removeprefix(".venv/bin/") for line in COMMANDS if line.startswith(".venv/bin/")]
    assert len(plain) == 4
    for line in plain:
        words = [word for word in shlex.split(line) if word not in ("-e", "--quiet", "--editable")]
        assert " ".join(words[:3]) in makefile.replace("$(BIN)/", "").replace("--quiet --editable ", "")
        assert words[-1] in makefile


def test_extras_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {
        extra
        for path in DOCUMENTS
        for found in re.findall(r"\[([a-z,]+)\]'", path.read_text())
        for extra in found.split(",")
    }
    assert named
    assert named <= set(extras)


def test_links_lead_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"
