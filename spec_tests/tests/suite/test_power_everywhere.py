"""The power of the suite on every variant: in its recurrence, and where every token sees every token, the goldens have
a case for every mistake in every profile that it declares, and all mutants in single precision are rejected and named.

``linattn mutants`` measures all forms and precisions; those of the foundation are in ``test_power``.
"""

from collections import defaultdict

import pytest
from drawing import FOUNDATION
from test_power import DECLARED, NAMED

import linattn
from linattn import VARIANTS
from linattn_spec import Backend
from linattn_spec.checks import run_check
from linattn_spec.diagnosis import RESOLVED
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.power import sights, trials
from linattn_spec.results import Check

PLACES = [(variant, "recurrent") for variant in VARIANTS if variant not in FOUNDATION]
PLACES += [(variant, "bidirectional") for variant in VARIANTS if variant.bidirectional]


@pytest.fixture(scope="module", params=PLACES, ids=lambda place: f"{place[0].name} {place[1]}")
def place(request):
    """A variant and a form: both tests of one come one after the other, and share the signatures of its cases."""
    return request.param


def test_every_mistake_is_resolved(place):
    """A stale state of another shape is told by its shape."""
    variant, form = place
    best = defaultdict(float)
    for sight in sights(variant.name, form, DECLARED):
        best[sight.mistake, sight.profile] = max(best[sight.mistake, sight.profile], sight.units)
    grows = form == "recurrent" and any("P" in item.axes.split() for item in variant.state)
    unseen = {
        (one.id, profile)
        for one in MISTAKES
        if one.applies(variant, form) and "golden" in one.seen_by
        for profile in set(one.profiles) & set(DECLARED)
        if best[one.id, profile] < RESOLVED
    }
    assert {one for one, _ in unseen} == ({"final-state-stale"} if grows else set())
    assert len(best) > 3 * 20


def test_all_mutants_are_rejected_and_named(place):
    variant, form = place
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
