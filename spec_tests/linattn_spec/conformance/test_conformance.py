"""One test per planned check. A backend that hangs or crashes takes pytest with it; ``linattn check`` survives."""

import pytest

from linattn_spec import Backend
from linattn_spec.checks import run_check
from linattn_spec.results import Check


def test_conforms(backend: Backend, check: Check) -> None:
    result = run_check(backend, check)
    if result.status == "unsupported":
        pytest.skip(result.reason)
    if result.status == "limit":
        pytest.xfail(f"beyond the declared range: {result.reason}")
    assert result.status == "pass", result.reason
