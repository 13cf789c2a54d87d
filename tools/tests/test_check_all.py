"""``make check-all``: what is skipped and why, what is kept, and the exit code."""

import json
import os
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import check_all
from check_all import Outcome
from linattn_spec.loading import BUILT_IN


def test_every_backend_has_an_extra():
    for name in BUILT_IN:
        assert name in check_all.EXTRAS or name == "numpy" or name.startswith("onnx")


def test_what_its_requirements_exclude_is_skipped_without_pip(monkeypatch):
    monkeypatch.setitem(check_all.EXTRAS, "fla", ["torch>=2", "triton>=3; python_version < '3'"])
    outcome = check_all.outcome("fla", None)
    assert outcome == Outcome("fla", None, 'triton needs python_version < "3"')
    assert outcome.word == "skipped"


def test_what_pip_cannot_install_is_skipped_and_tried_again(monkeypatch, tmp_path):
    monkeypatch.setattr(check_all, "ROOT", tmp_path)
    (tmp_path / "pyproject.toml").write_text("")
    said = "WARNING: slow\nERROR: No matching distribution found for mlx\n"
    monkeypatch.setattr(check_all.subprocess, "run", lambda *_, **__: CompletedProcess([], 1, stderr=said))
    assert check_all.outcome("mlx-lm", None).said == "ERROR: No matching distribution found for mlx"
    assert not (tmp_path / ".venvs" / "mlx-lm" / "ready").exists()


@pytest.fixture
def checkout(monkeypatch, tmp_path):
    """An empty checkout with environments for everything."""
    monkeypatch.setattr(check_all, "ROOT", tmp_path)
    monkeypatch.setattr(check_all, "SOURCES", [tmp_path / "source.py"])
    monkeypatch.setattr(check_all, "installed", lambda extra: extra)
    (tmp_path / ".linattn").mkdir()
    (tmp_path / "source.py").write_text("")
    return tmp_path


def checks(monkeypatch, **codes):
    """``linattn check`` ends with these codes; what it was called with."""
    calls = []

    def call(command, cwd):
        calls.append(command)
        code = codes.get(command[4], 0)
        Path(command[command.index("--json") + 1]).write_text(json.dumps({"counts": {"pass": 3, "fail": code}}))
        return code

    monkeypatch.setattr(check_all.subprocess, "call", call)
    return calls


def test_one_failure_is_a_failure(checkout, monkeypatch, capsys):
    checks(monkeypatch, numpy=1)
    assert check_all.main(["numpy", "fla"]) == 1
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-2:]]
    assert rows == [["numpy", "FAILED", "3", "pass,", "1", "fail"], ["fla", "passed", "3", "pass,", "0", "fail"]]
    checks(monkeypatch)
    assert check_all.main(["numpy", "fla"]) == 0


def test_nothing_judged_is_a_failure_but_nothing_installed_is_not(checkout, monkeypatch):
    checks(monkeypatch, numpy=2)
    assert check_all.main(["numpy"]) == 1
    monkeypatch.setattr(check_all, "installed", raising(check_all.Skipped("no wheel")))
    assert check_all.main(["numpy"]) == 0


def test_an_interrupted_call_is_no_success(checkout, monkeypatch, capsys):
    monkeypatch.setattr(check_all.subprocess, "call", raising(KeyboardInterrupt()))
    assert check_all.main(["numpy", "fla"]) == 1
    assert "the next call goes on" in capsys.readouterr().out


def raising(what):
    def call(*_, **__):
        raise what

    return call


def test_results_are_kept_until_a_source_changes(checkout, monkeypatch):
    calls = checks(monkeypatch)
    log = checkout / ".linattn" / "numpy.jsonl"
    for log_time, source_time in ((None, 1), (2, 1), (2, 3)):
        os.utime(checkout / "source.py", (source_time, source_time))
        if log_time:
            log.touch()
            os.utime(log, (log_time, log_time))
        check_all.main(["numpy"])
    assert ["--resume" in command for command in calls] == [False, True, False]


def test_the_level_is_the_usual_one_but_where_kernels_are_interpreted(checkout, monkeypatch):
    calls = checks(monkeypatch)
    check_all.main(["numpy", "fla"])
    check_all.main(["fla", "--level", "full"])
    assert [command[6] for command in calls] == ["core", "smoke", "full"]
