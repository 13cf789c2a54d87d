"""The coverage gate for all variants: the goldens have a case for every mistake, in every profile that it declares."""

from collections import defaultdict

import pytest
from drawing import FOUNDATION

from linattn import VARIANTS
from linattn_spec.diagnosis import RESOLVED
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.power import sights

DECLARED = ("fp32", "bf16", "fp16")
OTHERS = [variant for variant in VARIANTS if variant not in FOUNDATION]  # those are in test_power, in all their forms


@pytest.mark.parametrize("variant", OTHERS, ids=lambda variant: variant.name)
def test_every_mistake_is_resolved_in_the_recurrence(variant):
    """A stale state of another shape is told by its shape."""
    best = defaultdict(float)
    for sight in sights(variant.name, "recurrent", DECLARED):
        best[sight.mistake, sight.profile] = max(best[sight.mistake, sight.profile], sight.units)
    grows = any("P" in item.axes.split() for item in variant.state)
    unseen = {
        (one.id, profile)
        for one in MISTAKES
        if one.applies(variant, "recurrent") and "golden" in one.seen_by
        for profile in set(one.profiles) & set(DECLARED)
        if best[one.id, profile] < RESOLVED
    }
    assert {one for one, _ in unseen} == ({"final-state-stale"} if grows else set())
    assert len(best) > 3 * 20
