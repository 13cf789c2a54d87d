"""Every command runs in an empty folder: they write where one stands. Checks may run in this process, on its clock."""

import json
import time

import commandline
import pytest

from linattn_spec import load, runner


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_workers(monkeypatch):
    """Checks run in this process, which starts faster and can be watched."""

    def run(name, checks, timeout, workers, deadline):
        backend = load(name)
        return (runner.in_time(backend, check, deadline) for check in checks)

    monkeypatch.setattr(runner, "run", run)


@pytest.fixture
def check(tmp_path, capsys):
    """Run ``linattn check`` with these words: the exit code, the report, and what was printed."""

    def command(path, *words):
        (tmp_path / "all.json").unlink(missing_ok=True)
        code = commandline.run("check", path, *words, "--json", "all.json", "--html", "all.html")
        written = tmp_path / "all.json"
        return code, json.loads(written.read_text()) if written.exists() else None, capsys.readouterr()

    return command


@pytest.fixture
def clock(monkeypatch):
    """A clock on which every check takes a second."""
    now, real = [time.time()], runner.in_time
    monkeypatch.setattr(time, "time", lambda: now[0])

    def slow(*arguments):
        result = real(*arguments)
        now[0] += 1
        return result

    monkeypatch.setattr(runner, "in_time", slow)
