"""A right adapter passes everything; broken in any of two dozen ways it is caught, by the checks that are meant to, and
the report says where.
"""

import re

import pytest
from breaks_seen import BREAKS, REFUSED, Break
from broken import COLUMNS, WRONG, backend_with, judged

EACH_COLUMN = pytest.mark.parametrize("column", COLUMNS)


@EACH_COLUMN
@pytest.mark.parametrize("variant", sorted({broken.variant for broken in BREAKS}))
def test_the_unbroken_adapter_is_right(variant, column):
    results = judged(backend_with(column, variant))
    assert len(results) > 30
    assert [result for result in results if result.status != "pass"] == []


@EACH_COLUMN
@pytest.mark.parametrize("broken", BREAKS, ids=lambda broken: broken.name)
def test_a_broken_adapter_is_caught(broken: Break, column):
    wrong = [r for r in judged(backend_with(column, broken.variant, broken.run)) if r.status in WRONG]
    reasons = {f"{result.check.scenario}:{result.check.kind}": result.reason for result in wrong}
    assert {result.check.kind for result in wrong} == broken.kinds - REFUSED.get(column, set())
    for place, pattern in broken.says.items():
        assert re.search(pattern, reasons[place])


def test_gates_beyond_the_declared_range_are_a_limit_and_no_failure():
    clamp = next(broken for broken in BREAKS if broken.name == "gates clamped")
    status = {r.check.scenario: r.status for r in judged(backend_with(COLUMNS[0], clamp.variant, clamp.run))}
    assert (status["gates-never"], status["gates-strong"]) == ("limit", "fail")
