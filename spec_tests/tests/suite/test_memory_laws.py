"""Laws of memory: our own forms keep all of them."""

import pytest

from linattn.record import FORMS
from linattn_spec import load
from linattn_spec.checks import run_check
from linattn_spec.laws.memory import MEMORY
from linattn_spec.plan import Selection, plan

KINDS = [law.name for law in MEMORY]


@pytest.mark.parametrize("form", FORMS)
def test_our_own_forms_keep_to_their_memory(form):
    backend = load("numpy")
    checks = [c for c in plan(backend, Selection(forms=(form,), profiles=("fp32",))) if c.kind in KINDS]
    results = [run_check(backend, check) for check in checks if not check.scenario.startswith("recipe")]
    assert {result.check.kind for result in results} == set(KINDS)
    wrong = {result.check.id: result.reason for result in results if result.status != "pass"}
    assert set(wrong.values()) <= {"no two inputs of the case have one shape"}
