"""What is wrong with an option is a usage error: known before any test is collected."""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from linattn_spec import Backend, NoBackend, load
from linattn_spec.known import Known, known
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check, Result


@dataclass(frozen=True)
class Session:
    """What is run, and the results as they come."""

    backend: Backend
    selection: Selection
    checks: list[Check]
    known: Known
    results: list[Result] = field(default_factory=list)


@lru_cache(maxsize=1)
def planned(config: pytest.Config) -> Session:
    def chosen(name: str) -> tuple[str, ...]:
        return tuple(filter(None, config.getoption(f"--linattn-{name}").split(",")))

    name, file = config.getoption("--linattn-backend"), config.getoption("--linattn-known")
    try:
        backend = load(name)
        selection = Selection(chosen("variant"), chosen("form"), chosen("profile"), config.getoption("--linattn-level"))
        expected = known(name, backend, Path(file) if file else None)
    except (NoBackend, ValueError, OSError) as reason:
        raise pytest.UsageError(str(reason)) from reason
    checks = plan(backend, selection)
    if not checks:
        raise pytest.UsageError(f"backend {name} implements nothing of what was selected")
    return Session(backend, selection, checks, expected)


@pytest.fixture
def session(request: pytest.FixtureRequest) -> Session:
    return planned(request.config)


def pytest_collectstart(collector: Any) -> None:
    planned(collector.config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "check" in metafunc.fixturenames:
        metafunc.parametrize("check", [pytest.param(c, id=c.id) for c in planned(metafunc.config).checks])
