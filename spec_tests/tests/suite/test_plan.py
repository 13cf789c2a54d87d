"""What a run consists of, and in which order where it may end early."""

from collections import Counter
from itertools import islice

import pytest

import linattn
import linattn_golden
from linattn_spec import Backend, diagnosis, load
from linattn_spec import plan as plan_module
from linattn_spec.checks import CHECKS
from linattn_spec.laws import LAWS, Law
from linattn_spec.plan import LEVELS, MORE, SMOKE, TELLING, Selection, most_telling_first, place, plan
from linattn_spec.profiles import PROFILES

BACKEND = load("numpy")
PLANNED = plan(BACKEND)
SMOKED, FULL = plan(BACKEND, Selection(level="smoke")), plan(BACKEND, Selection(level="full"))
LARGE = {case.id for case in linattn_golden.cases(kind="recipe")}


def golden(checks):
    return {(c.case, c.column, c.profile) for c in checks if c.kind == "golden"}


def test_every_function_meets_every_golden_case_in_every_profile():
    everything = {
        (case.id, form, profile)
        for case in linattn_golden.cases()
        for form in linattn.variant(case.variant).forms
        for profile in ("fp32", "fp64")
    }
    assert golden(FULL) == everything
    assert golden(PLANNED) == {one for one in everything if not one[0].endswith(("/recipe-128", "/recipe-plain"))}
    assert any(one[0] in LARGE for one in golden(PLANNED))


def test_every_law_is_tried_on_every_variant_where_it_has_a_meaning():
    for variant in linattn.VARIANTS:
        for form in variant.forms:
            function = BACKEND.function(variant.name, form)
            laws = {c.kind for c in PLANNED if (c.variant, c.column) == (variant.name, form)} & {n.name for n in LAWS}
            assert laws == {law.name for law in LAWS if law.has_meaning(function)}


def test_every_planned_check_exists_once():
    for planned in (SMOKED, PLANNED, FULL):
        assert len(set(planned)) == len(planned)
    assert {c.kind for c in FULL} == {*CHECKS, "live"}
    assert {c.case for c in FULL if c.kind != "live"} == {case.id for case in linattn_golden.cases()}


def test_every_level_holds_the_one_before_it():
    assert set(SMOKED) < set(PLANNED) < set(FULL)
    assert Selection(level="core").reaches("smoke")
    assert not Selection(level="core").reaches("full")


def test_laws_are_tried_on_more_cases_at_level_full():
    for law in LAWS:
        core, full = ({c.scenario for c in planned if c.kind == law.name} for planned in (PLANNED, FULL))
        assert core <= set(law.scenarios)
        more = set() if law.bound else set(MORE) - {"large-scores"}  # which softmax attention alone has
        assert full >= core | more


def test_another_level_is_refused():
    with pytest.raises(ValueError, match="level must be one of smoke, core, full; got 'all'"):
        Selection(level="all")


@pytest.mark.parametrize("level", LEVELS)
def test_a_law_is_tried_from_its_level_on(monkeypatch, level):
    laws = tuple(Law(name, lambda subject: iter(()), ("odd-dims", "long"), level=name) for name in LEVELS)
    monkeypatch.setattr(plan_module, "LAWS", laws)
    tried = [c.kind for c in plan(BACKEND, Selection(("gla",), ("parallel",), ("fp32",), level)) if c.kind in LEVELS]
    assert set(tried) == set(islice(LEVELS, list(LEVELS).index(level) + 1))
    assert (tried.count("smoke") == 1) == (level == "smoke")


def test_verdicts_come_function_by_function_and_profile_by_profile():
    order = [place(c) for c in PLANNED]
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


def one_function(accepts="", names=("q", "k", "v", "scale", "log_decay", "initial_state"), form="recurrent"):
    backend = Backend("one")
    call = eval(f"lambda {', '.join(names)}: None")
    backend.implements("gla", form, accepts)(call)
    return backend


def scenarios(backend, level, kind="golden"):
    return [c.scenario for c in plan(backend, Selection(level=level)) if c.kind == kind]


@pytest.mark.parametrize(
    ("accepts", "smoke", "large"),
    [
        ("", ["grouped-query", "gates-reset"], "recipe-64"),
        ("Hq == Hv", ["gates-reset", "square"], "recipe-64"),
        ("K in (64, 128)", ["recipe-64", "recipe-128"], "recipe-64"),
        ("K == 128", ["recipe-128"], "recipe-128"),
        ("K == 7", ["grouped-query", "gates-reset"], "recipe-64"),  # nothing is accepted: what is not offered is shown
        ("K ==", ["grouped-query", "gates-reset"], "recipe-64"),  # an error of every check, not of the plan
    ],
)
def test_the_chosen_cases_are_some_that_the_function_accepts(accepts, smoke, large):
    backend = one_function(accepts)
    assert scenarios(backend, "smoke") == smoke
    for kind in ("golden", "prefix"):
        assert [s for s in scenarios(backend, "core", kind) if s.startswith("recipe")] == [large]
    assert {"recipe-64", "recipe-128"} <= set(scenarios(backend, "full"))


def test_a_function_without_a_state_gets_cases_without_one():
    chosen = scenarios(one_function(names=("q", "k", "v", "scale", "log_decay")), "smoke")
    assert chosen
    assert all(linattn_golden.case(f"gla/{scenario}").initial_state is None for scenario in chosen)


def test_a_form_selects_all_its_functions_and_a_column_one():
    backend = Backend("two")
    for label in ("fused", "naive"):
        backend.implements("linear_attention", "recurrent", label=label)(lambda q, k, v: None)
    both = {check.column for check in plan(backend, Selection(forms=("recurrent",)))}
    assert both == {"recurrent.fused", "recurrent.naive"}
    assert {c.column for c in plan(backend, Selection(forms=("recurrent.naive",)))} == {"recurrent.naive"}


# -- the order of a run that may end early -----------------------------------------------------------------------------


def test_the_same_checks_in_another_order():
    ordered = most_telling_first(FULL)
    assert sorted(ordered, key=lambda c: c.id) == sorted(FULL, key=lambda c: c.id)


def test_wherever_it_ends_all_functions_and_profiles_had_as_many_checks():
    """But for those whose checks are all done."""
    total, done = Counter(map(place, PLANNED)), Counter()
    for check in most_telling_first(PLANNED):
        done[place(check)] += 1
        unfinished = [n for there, n in done.items() if n < total[there]]
        assert len(done) < len(total) or not unfinished or max(done.values()) - min(unfinished) <= 1


def test_the_first_rounds_are_the_run_at_level_smoke():
    chosen = [c for c in most_telling_first(PLANNED) if c.kind == "golden"][: len(SMOKED)]
    assert set(chosen) == set(SMOKED)


def test_golden_cases_come_before_laws():
    for there in {place(c) for c in PLANNED}:
        kinds = [c.kind == "golden" for c in most_telling_first(PLANNED) if place(c) == there]
        assert kinds == sorted(kinds, reverse=True)


# -- which cases are telling -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear_attention", "gated_delta_rule"])
def test_the_telling_cases_see_the_most_mistakes(name):
    """The first two see nearly as many as any two; all of them see what any case sees."""
    variant, form, seen = linattn.variant(name), "chunkwise", {}
    names = diagnosis.results_of(variant, form)
    for case in linattn_golden.cases(name, "certified"):
        signatures = diagnosis.signatures(case.id, form, PROFILES["fp32"], names)
        seen[case.id.split("/")[1]] = {mistake for mistake in signatures.ids if signatures.resolves(mistake)}
    first, second, *_ = telling = [scenario for scenario in TELLING if scenario in seen]
    assert SMOKE == 2
    assert len(seen[first] | seen[second]) >= 0.95 * max(len(a | b) for a in seen.values() for b in seen.values())
    assert set().union(*(seen[scenario] for scenario in telling)) == set().union(*seen.values())
