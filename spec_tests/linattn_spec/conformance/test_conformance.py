"""One test per planned check. A backend that hangs or crashes takes pytest with it; ``linattn check`` survives."""

import pytest

from linattn_spec import NoBackend, load
from linattn_spec.checks import run_check
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    def chosen(name: str) -> tuple[str, ...]:
        return tuple(filter(None, metafunc.config.getoption(f"--linattn-{name}").split(",")))

    name = metafunc.config.getoption("--linattn-backend")
    try:
        backend = load(name)
    except NoBackend as reason:
        raise pytest.UsageError(str(reason)) from reason
    checks = plan(backend, Selection(chosen("variant"), chosen("form"), chosen("profile")))
    metafunc.parametrize(("backend", "check"), [pytest.param(backend, check, id=check.id) for check in checks])


def test_conforms(backend, check: Check) -> None:
    result = run_check(backend, check)
    if result.status == "unsupported":
        pytest.skip(result.reason)
    if result.status == "limit":
        pytest.xfail(f"beyond the declared range: {result.reason}")
    assert result.status == "pass", result.reason
