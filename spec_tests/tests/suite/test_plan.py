"""What a run consists of."""

import pytest

import linattn
import linattn_golden
from linattn_spec import Backend, load
from linattn_spec.checks import CHECKS
from linattn_spec.laws import LAWS
from linattn_spec.plan import Selection, plan

BACKEND = load("numpy")
PLANNED = plan(BACKEND)


def test_every_function_meets_every_golden_case_in_every_profile():
    golden = {(c.case, c.column, c.profile) for c in PLANNED if c.kind == "golden"}
    assert golden == {
        (case.id, form, profile)
        for case in linattn_golden.cases()
        for form in linattn.variant(case.variant).forms
        for profile in ("fp32", "fp64")
    }


def test_every_law_is_tried_on_every_variant_where_it_has_a_meaning():
    for variant in linattn.VARIANTS:
        for form in variant.forms:
            laws = {c.kind for c in PLANNED if (c.variant, c.column) == (variant.name, form)} - {"golden"}
            meaningless = {"split", "prefix", "neutral"} if form == "bidirectional" else set()
            meaningless |= {"neutral"} if variant.name in ("softmax_attention", "retention") else set()
            assert laws == {law.name for law in LAWS} - meaningless


def test_every_planned_check_exists_once():
    assert len(set(PLANNED)) == len(PLANNED)
    assert {c.kind for c in PLANNED} == set(CHECKS)
    assert {c.case for c in PLANNED} == {case.id for case in linattn_golden.cases()}


def test_verdicts_come_function_by_function_and_profile_by_profile():
    order = [(c.variant, c.column, c.profile) for c in PLANNED]
    blocks = [block for i, block in enumerate(order) if i == 0 or order[i - 1] != block]
    assert len(blocks) == len(set(blocks))


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (Selection(variants=("kda", "gla")), lambda c: c.variant in ("kda", "gla")),
        (Selection(forms=("parallel",)), lambda c: c.column == "parallel"),
        (Selection(profiles=("fp64",)), lambda c: c.profile == "fp64"),
        (Selection(("kda",), ("parallel",)), lambda c: (c.variant, c.column) == ("kda", "parallel")),
        (Selection(variants=("none",)), lambda c: False),
    ],
)
def test_a_selection_keeps_what_it_names(selection, kept):
    assert plan(BACKEND, selection) == [check for check in PLANNED if kept(check)]


def test_a_form_selects_all_its_functions_and_a_column_one():
    backend = Backend("two")
    for label in ("fused", "naive"):
        backend.implements("linear_attention", "recurrent", label=label)(lambda q, k, v: None)
    both = {check.column for check in plan(backend, Selection(forms=("recurrent",)))}
    assert both == {"recurrent.fused", "recurrent.naive"}
    assert {c.column for c in plan(backend, Selection(forms=("recurrent.naive",)))} == {"recurrent.naive"}
