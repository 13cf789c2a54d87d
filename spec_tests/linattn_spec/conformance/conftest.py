"""What is wrong with an option is a usage error: known before any test is collected."""

from functools import lru_cache
from typing import Any

import pytest

from linattn_spec import Backend, NoBackend, load
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check


@lru_cache(maxsize=1)
def planned(config: pytest.Config) -> tuple[Backend, list[Check]]:
    def chosen(name: str) -> tuple[str, ...]:
        return tuple(filter(None, config.getoption(f"--linattn-{name}").split(",")))

    name = config.getoption("--linattn-backend")
    try:
        backend = load(name)
    except NoBackend as reason:
        raise pytest.UsageError(str(reason)) from reason
    checks = plan(backend, Selection(chosen("variant"), chosen("form"), chosen("profile")))
    if not checks:
        raise pytest.UsageError(f"backend {name} implements nothing of what was selected")
    return backend, checks


def pytest_collectstart(collector: Any) -> None:
    planned(collector.config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    backend, checks = planned(metafunc.config)
    metafunc.parametrize(("backend", "check"), [pytest.param(backend, check, id=check.id) for check in checks])
