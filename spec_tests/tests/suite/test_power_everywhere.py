"""The power of the suite on every variant: in its recurrence, and where every token sees every token, in single
precision, all mutants are rejected and named.

``linattn mutants`` measures all forms and precisions; those of the foundation are in ``test_power``.
"""

import pytest
from drawing import FOUNDATION
from test_power import NAMED

from linattn import VARIANTS
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.power import trials

PLACES = [(variant, "recurrent") for variant in VARIANTS if variant not in FOUNDATION]
PLACES += [(variant, "bidirectional") for variant in VARIANTS if variant.bidirectional]


@pytest.mark.parametrize(("variant", "form"), PLACES, ids=[f"{variant.name} {form}" for variant, form in PLACES])
def test_all_mutants_are_rejected_and_named(variant, form):
    found = trials(variant.name, form, ("fp32",))
    golden = [trial for trial in found if trial.check == "golden"]
    assert {trial.mistake for trial in found} == {one.id for one in MISTAKES if one.applies(variant, form)}
    assert [(trial.mistake, trial.check) for trial in found if not trial.killed] == []
    assert sum(trial.is_named for trial in golden) >= NAMED * len(golden)
