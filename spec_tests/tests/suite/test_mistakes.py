"""The catalogue of mistakes: its entries are well formed, and each can be made somewhere."""

import re
from dataclasses import replace

import numpy as np
import pytest
from drawing import EACH_VARIANT, FOUNDATION, each

import linattn
import linattn_golden
from linattn import VARIANTS
from linattn_spec import PROFILES
from linattn_spec.checks import CHECKS
from linattn_spec.mistakes import MISTAKES, mistake
from linattn_spec.mistakes.closed import ClosedForm
from linattn_spec.mistakes.mutant import EVERYWHERE, mutant
from linattn_spec.mistakes.record import CHUNK, call_of, right, traits
from linattn_spec.mistakes.small import calls, computes

EACH_MISTAKE = pytest.mark.parametrize("one", MISTAKES, ids=lambda one: one.id)
THREAD = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/[1-9]\d*")


@EACH_MISTAKE
def test_an_entry_is_well_formed(one):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.id)
    assert re.fullmatch(r"[a-z]+( [a-z]+)*", one.kind)
    assert one.sentence.endswith(".")
    assert "\n" not in one.sentence
    assert one.profiles
    assert set(one.profiles) <= set(PROFILES)
    assert all(THREAD.fullmatch(link) for link in one.seen_in)
    assert one.seen_by
    assert set(one.seen_by) <= set(CHECKS)
    assert ("golden" in one.seen_by) == (one.around is None)  # results are wrong, or what a call does beside them


@EACH_MISTAKE
def test_a_mistake_can_be_made_somewhere(one):
    """In every form that it declares. Not all of those of any form can be made where there is no state."""
    for form in set(one.forms) - {"bidirectional"} or {"bidirectional"}:
        assert any(one.applies(variant, form) for variant in VARIANTS), form


def content(call):
    return [np.asarray(x).tobytes() for x in (*call.inputs.values(), *call.state)]


@EACH_MISTAKE
def test_a_mistake_leaves_the_call_as_it_was(one):
    """All mistakes are made of the same call."""
    place = next(place for place in EVERYWHERE if one.applies(*place))
    for call in calls(*place, call_of):
        before = content(call)
        assert computes(one.wrong, call)
        assert content(call) == before


def test_ids_and_sentences_are_unique():
    assert len({one.id for one in MISTAKES}) == len({one.sentence for one in MISTAKES}) == len(MISTAKES)


def test_a_mistake_is_found_by_its_id():
    assert all(mistake(one.id) is one for one in MISTAKES)


@pytest.mark.parametrize(
    ("unknown", "hint"),
    [
        ("scale-mising", "did you mean scale-missing or .*?"),
        ("state_transposed_out", "did you mean state-transposed-out or .*?"),
        ("xyz", "linattn mutants --list shows them"),
    ],
)
def test_an_unknown_id_is_refused_with_those_that_look_like_it(unknown, hint):
    with pytest.raises(ValueError, match=f"there is no mistake '{unknown}'; {hint}"):
        mistake(unknown)


@EACH_VARIANT
def test_what_is_right_is_the_reference(variant):
    """Bit by bit, on every case, in every form."""
    for case in linattn_golden.cases(variant.name, "certified"):
        data = linattn_golden.load(case)
        for form in variant.forms:
            start = None if form == "bidirectional" else data.initial_state
            output, state = linattn.prefill(variant, form=form, chunk_size=CHUNK, initial_state=start, **data.inputs)
            pairs = zip(variant.state, state, strict=bool(state))
            want = {"output": output} | {f"final_state/{item.name}": x for item, x in pairs}
            got = right(call_of(variant, form, data.inputs, data.initial_state))
            assert got.keys() == want.keys()
            assert all(np.array_equal(got[name], want[name]) for name in want)


def test_a_mutant_makes_its_mistake_wherever_it_applies_and_nowhere_else():
    for one in MISTAKES[::20]:
        functions = {(f.variant, f.form) for f in mutant(one).functions}
        assert functions == {(v.name, form) for v, form in EVERYWHERE if one.applies(v, form)}


def test_a_mistake_is_made_only_where_its_needs_are_met():
    places = {one.id: {variant.name for variant in FOUNDATION if one.applies(variant, "chunkwise")} for one in MISTAKES}
    assert places["gate-of-the-first-channel"] == {"gla", "kda"}
    assert places["gate-of-the-token-before"] == {"simple_gla", "gla", "gated_delta_rule", "kda"}
    assert places["gate-halved"] == places["gate-of-the-token-before"] | {"retention"}
    assert places["erase-missing"] == {"delta_rule", "gated_delta_rule", "kda"}
    assert places["erase-undecayed"] == places["erase-missing"] - {"delta_rule"}
    assert places["eps-missing"] == {"normalised_linear_attention"}
    assert places["not-causal"] == set()  # the parallel form alone
    assert places["cache-ignored"] == {"softmax_attention"}
    assert places["decays-as-differences"] == places["gate-halved"]


def test_no_mistake_is_made_in_a_form_that_a_variant_lacks():
    recurrent = replace(linattn.variant("gla"), parallel=None)
    assert mistake("gate-halved").applies(recurrent, "recurrent")
    assert not mistake("gate-halved").applies(recurrent, "chunkwise")


@each(FOUNDATION)
def test_a_closed_form_with_nothing_exchanged_is_right(variant):
    """In chunks and as a whole, up to the rounding of float64: what is wrong with it is what a mistake exchanges."""
    if "outer products" not in traits(variant):
        pytest.skip("not of this form")
    for case in linattn_golden.cases(variant.name, "certified"):
        data = linattn_golden.load(case)
        for form in ("chunkwise", "parallel"):
            call = call_of(variant, form, data.inputs, data.initial_state)
            got, want = ClosedForm()(call), right(call)
            assert got.keys() == want.keys()
            assert all(np.allclose(got[name], want[name], rtol=1e-10, atol=1e-10) for name in want)


def test_every_class_of_fault_has_its_mistakes():
    """State, heads, range, ragged ends, packing, gates, norms, precision, widths, inverses, calls, causality ..."""
    assert {one.kind for one in MISTAKES} >= {
        *(
            "state in",
            "state out",
            "state layout",
            "heads",
            "batch",
            "layout",
            "gate range",
            "ragged end",
            "gate",
            "beta",
        ),
        *("order", "erase", "scale", "normaliser", "eps", "norm", "features", "skip", "precision", "widths"),
        *("triangular", "chunk", "causality", "memory", "call", "packed sequences"),
    }
