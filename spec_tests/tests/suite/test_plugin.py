"""``pytest --pyargs linattn_spec``: the second front end, as users run it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import linattn_golden

OPTIONS = ("--linattn-variant", "simple_gla", "--linattn-form", "recurrent", "--linattn-profile", "fp32")
STRONG = sum(np.min(linattn_golden.load(case).inputs["log_decay"]) < -5 for case in linattn_golden.cases("simple_gla"))
RED = """
import linattn
from linattn_spec import Backend

backend = Backend("red", layout="BHTD", log_decay_range=-5)


@backend.implements("simple_gla", "recurrent")
def _(q, k, v, log_decay, initial_state):
    gates = log_decay[..., None].clip(min=-5)  # the cases with stronger gates are beyond its range
    output, state = linattn.prefill("simple_gla", q=q, k=k, v=v, log_decay=gates, initial_state=initial_state)
    return output * (1 + (q.shape[1] == 6)), state  # six query heads: grouped-query
"""


@pytest.fixture
def pytest_run(tmp_path):
    """Run pytest elsewhere, with no other plugin than ours."""
    own = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "200"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-p", "linattn_spec.plugin", "-p", "no:cacheprovider", *arguments]
        return subprocess.run(command, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True, timeout=120)

    return run


def test_green(pytest_run):
    run = pytest_run("--pyargs", "linattn_spec", "-v", "--linattn-backend", "numpy", *OPTIONS)
    assert run.returncode == pytest.ExitCode.OK
    assert "test_conforms[simple_gla/odd-dims:recurrent:fp32:split] PASSED" in run.stdout
    assert "simple_gla/gates-reset:recurrent:fp32:golden] PASSED" in run.stdout
    assert not any(word in run.stdout for word in ("kda", "chunkwise", "fp64", "SKIPPED"))


def test_red(pytest_run, tmp_path):
    (tmp_path / "red.py").write_text(RED)
    run = pytest_run("--pyargs", "linattn_spec", "-rfsx", "--linattn-backend", "red.py", *OPTIONS)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "[simple_gla/grouped-query:recurrent:fp32:golden] - AssertionError: output is off by" in run.stdout
    assert "2 times the right values" in run.stdout
    assert "takes no scale, which the case sets" in run.stdout
    assert re.search(rf"1 failed, \d+ passed, \d+ skipped, {STRONG} xfailed", run.stdout)


KNOWN = """
[[failure]]
check = "simple_gla/grouped-query:recurrent:fp32:golden"
backend = "red"
seen = "1"
reason = "doubles the output of six heads"
link = "https://example.org/7"
"""


def test_what_is_known_to_fail_must_fail(pytest_run, tmp_path):
    (tmp_path / "red.py").write_text(RED)
    (tmp_path / "known_failures.toml").write_text(KNOWN)
    run = pytest_run("--pyargs", "linattn_spec", "-rx", "--linattn-backend", "red.py", *OPTIONS)
    assert run.returncode == pytest.ExitCode.OK, run.stdout
    assert "golden] - doubles the output of six heads, https://example.org/7" in run.stdout
    assert f" {STRONG + 1} xfailed" in run.stdout
    (tmp_path / "mine.toml").write_text(KNOWN.replace("grouped-query", "odd-dims"))
    named = ("--linattn-backend", "red.py", "--linattn-known", "mine.toml", *OPTIONS)
    run = pytest_run("--pyargs", "linattn_spec", *named)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED
    assert "2 failed" in run.stdout  # grouped-query, which nobody expects, and the entry
    assert "mine.toml, failure 1: nothing that matches simple_gla/odd-dims:recurrent:fp32:golden fails" in run.stdout


def test_a_level_is_chosen(pytest_run):
    run = pytest_run("--pyargs", "linattn_spec", "--linattn-level", "smoke", *OPTIONS)
    assert run.returncode == pytest.ExitCode.OK
    assert "3 passed" in run.stdout  # two golden cases, and the known failures


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--linattn-level", "all"), "level must be one of smoke, core, full; got 'all'"),
        (("--linattn-known", "gone.toml"), "No such file or directory: 'gone.toml'"),
        (("--linattn-backend", "nonsense"), "backend nonsense: expected one of numpy"),
        (("--linattn-backend", "gone.py"), "backend gone.py: no such file"),
        (("--linattn-backend", "os:sep"), "expected a linattn_spec.Backend; got str"),
        (("--linattn-variant", "nonsense"), "backend numpy implements nothing of what was selected"),
    ],
)
def test_a_wrong_option_is_a_usage_error(pytest_run, options, words):
    run = pytest_run("--pyargs", "linattn_spec", *options)
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert re.search(f"ERROR: .*{words}", run.stderr)


def test_unused_it_imports_nothing(pytest_run, tmp_path):
    """In any project's own run, where the plugin is merely installed."""
    (tmp_path / "test_mine.py").write_text(
        "import sys\n\n\n"
        "def test_mine():\n"
        "    known = {name for name in sys.modules if name.split('.')[0].startswith(('linattn', 'numpy', 'scipy'))}\n"
        "    assert known == {'linattn_spec', 'linattn_spec.plugin'}\n"
    )
    run = pytest_run()
    assert (run.returncode, run.stdout.count("1 passed")) == (pytest.ExitCode.OK, 1), run.stdout
