"""One test per planned check. A backend that hangs or crashes takes pytest with it; ``linattn check`` survives."""

from typing import Any

import pytest

from linattn_spec.checks import run_check
from linattn_spec.results import Check


def test_conforms(session: Any, check: Check) -> None:
    result = session.known.apply(run_check(session.backend, check))
    session.results.append(result)
    if result.status == "unsupported":
        pytest.skip(result.reason)
    if result.status == "limit":
        pytest.xfail(f"beyond the declared range: {result.reason}")
    if result.status == "known":
        pytest.xfail(result.reason)
    assert result.status in ("pass", "noted"), result.reason


def test_known_failures(session: Any) -> None:
    """After all others: the file of known failures is still true, as far as this run tells."""
    complaints = session.known.complaints(session.results, session.selection)
    assert not complaints, "\n".join(complaints)
