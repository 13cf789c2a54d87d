"""What sees a mistake: laws that must reject it beside the goldens or alone, and how far each golden case shows it."""

from collections import defaultdict

import numpy as np
import pytest
from drawing import FOUNDATION

import linattn
import linattn_golden
from linattn_spec import PROFILES, diagnosis
from linattn_spec.checks import run_check
from linattn_spec.laws import LAWS
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.mutant import mutant
from linattn_spec.mistakes.power import planned, sights, trials, verdicts
from linattn_spec.mistakes.record import Mistake, right
from linattn_spec.mistakes.sequences import packed
from linattn_spec.results import Check

PLACES = [(variant, form) for variant in FOUNDATION for form in variant.forms]
RICH = (
    ("gated_delta_rule", "chunkwise"),
    ("softmax_attention", "parallel"),
    ("normalised_linear_attention", "recurrent"),
)
RARE = (  # with mistakes that those cannot make
    ("mamba3", "recurrent"),
    ("sigmoid_gating_delta_rule", "recurrent"),
    ("short_convolution", "chunkwise"),
    ("lightnet", "chunkwise"),
    ("log_linear_simple_gla", "recurrent"),
    ("linear_attention", "bidirectional"),
)
LAWFUL = [one for one in MISTAKES if set(one.seen_by) - {"golden"}]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0].name}:{place[1]}")
def test_laws_reject_what_they_must(place):
    """Where a law has a meaning and a case that it can be tried on."""
    variant, form = place
    seen = defaultdict(list)
    for check in planned(variant.name, form, ("fp32",)):
        for one in LAWFUL:
            if check.kind in set(one.seen_by) - {"golden"} and one.applies(variant, form):
                said = set(verdicts(one.id, mutant(one, only=(place,)), check))
                seen[one.id, check.kind] += ["killed" in said] if "judged" in said else []
    assert seen
    assert {pair for pair, killed in seen.items() if killed and not any(killed)} == set()


def test_every_law_that_is_named_is_tried_on_its_mistake():
    """In one of the variants and forms with most mistakes, or with those that are left."""
    left = {(one.id, kind) for one in LAWFUL for kind in set(one.seen_by) - {"golden"}}
    for name, form in (*RICH, *RARE):
        waiting = {one for one, _ in left}
        here = tuple(one.id for one in LAWFUL if one.id in waiting and one.applies(linattn.variant(name), form))
        left -= {(t.mistake, t.check) for t in (trials(name, form, ("fp32",), here) if here else ())}
    assert left == set()


@pytest.mark.parametrize("kind", sorted({kind for one in MISTAKES for kind in one.seen_by} - {"golden"}))
@pytest.mark.parametrize("variant", ["softmax_attention", "gla", "gated_delta_rule"])
def test_no_law_rejects_a_right_mutant(variant, kind):
    """The harness of the mutants breaks no law itself, not even where it packs sequences."""
    record = linattn.variant(variant)
    around = packed() if kind == "packing" else None
    right_one = Mistake("none", "none", "Nothing is wrong.", right, seen_by=(kind,), around=around)
    law = next(law for law in LAWS if law.name == kind)
    backend = mutant(right_one, only=((record, "chunkwise"),))
    if not law.has_meaning(backend.functions[0]) or (around and len(record.state) > 1):
        pytest.skip("no meaning here")
    for scenario in law.scenarios:
        if not scenario.startswith("recipe"):
            result = run_check(backend, Check(variant, scenario, "chunkwise", "fp32", kind))
            assert result.status in ("pass", "unsupported"), result.reason


# -- how far cases show mistakes ---------------------------------------------------------------------------------------


def test_sights_are_the_norms_of_signatures():
    found = {(s.mistake, s.case): s for s in sights("gla", "recurrent", ("fp32",), ("scale-missing", "gate-halved"))}
    names = ("final_state/S", "output")
    for (one, case), sight in found.items():
        known = diagnosis.signatures(f"gla/{case}", "recurrent", PROFILES["fp32"], names)
        norm = known.powers[known.ids.index(one)].sum() ** 0.5 if one in known.ids else 0
        assert sight.units == (np.inf if case == "exact" and norm else norm)
    assert {case for _, case in found} == {case.id.split("/")[1] for case in linattn_golden.cases("gla", "certified")}
    assert found["gate-halved", "gates-never"].units == 0
    assert found["scale-missing", "exact"].units == np.inf


def test_what_laws_alone_see_has_no_sight():
    assert sights("gla", "recurrent", ("fp32",), ("strides-ignored",)) == []
    assert sights("gla", "recurrent", ("bf16",), ("state-in-bfloat16",)) == []
