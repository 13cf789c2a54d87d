"""The power of the suite on every variant: in its recurrence, and where every token sees every token, in single
precision, all mutants are rejected and named.

``linattn mutants`` measures all forms and precisions; those of the foundation are in ``test_power``.
"""

import pytest
from drawing import FOUNDATION
from test_power import NAMED

import linattn
from linattn import VARIANTS
from linattn_spec import Backend
from linattn_spec.checks import run_check
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.power import trials
from linattn_spec.results import Check

PLACES = [(variant, "recurrent") for variant in VARIANTS if variant not in FOUNDATION]
PLACES += [(variant, "bidirectional") for variant in VARIANTS if variant.bidirectional]


@pytest.mark.parametrize(("variant", "form"), PLACES, ids=[f"{variant.name} {form}" for variant, form in PLACES])
def test_all_mutants_are_rejected_and_named(variant, form):
    found = trials(variant.name, form, ("fp32",))
    golden = [trial for trial in found if trial.check == "golden"]
    assert {trial.mistake for trial in found} == {one.id for one in MISTAKES if one.applies(variant, form)}
    assert [(trial.mistake, trial.check) for trial in found if not trial.killed] == []
    assert sum(trial.is_named for trial in golden) >= NAMED * len(golden)


def test_a_mask_that_is_left_on_is_named():
    backend = Backend("masked", layout="BHTD")

    @backend.implements("linear_attention", "bidirectional")
    def masked(q, k, v, scale):
        return linattn.prefill("linear_attention", q=q, k=k, v=v, scale=scale)[0].astype(q.dtype)

    result = run_check(backend, Check.parse("linear_attention/odd-dims:bidirectional:fp32:golden"))
    assert "looks like `masked` (coefficient 1.00)" in result.reason
