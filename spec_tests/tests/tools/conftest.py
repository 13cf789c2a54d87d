"""Every command runs in an empty folder: they write where one stands."""

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
