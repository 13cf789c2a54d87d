"""Mistakes of the families that came later: each can be made where it should be, and is what it says."""

import numpy as np
import pytest

import linattn
import linattn_golden
from linattn_golden.draws import bfloat16
from linattn_spec.mistakes import mistake
from linattn_spec.mistakes.cached_keys import PARALLAX, WALL
from linattn_spec.mistakes.erase_gates import ERASE_GATES
from linattn_spec.mistakes.hierarchy import HIERARCHY
from linattn_spec.mistakes.layer_norms import LAYER_NORMS
from linattn_spec.mistakes.least_squares import LEAST_SQUARES
from linattn_spec.mistakes.mini_batches import MINI_BATCHES
from linattn_spec.mistakes.recall import LONGHORN, TITANS
from linattn_spec.mistakes.record import CHUNK, call_of, right
from linattn_spec.mistakes.sticks import STICKS

EXACT = [case for case in linattn_golden.cases(kind="certified") if case.exact]


@pytest.mark.parametrize(
    ("variant", "own"),
    [
        ("longhorn", LONGHORN),
        ("titans_linear", TITANS),
        ("mesanet", LEAST_SQUARES),
        ("ttt_linear", MINI_BATCHES + LAYER_NORMS),
        ("log_linear_simple_gla", HIERARCHY),
        ("gdn2", ERASE_GATES),
        ("wall", WALL),
        ("parallax", PARALLAX),
        ("stick_breaking", STICKS),
    ],
)
def test_mistakes_of_a_family_are_its_own(variant, own):
    """They can be made there, in every causal form that they name, and not in the delta rule."""
    record = linattn.variant(variant)
    possible = {one.id for one in own if any(one.applies(record, form) for form in record.forms)}
    assert len(possible) >= 5
    assert all(
        one.applies(record, form)
        for one in own
        if one.id in possible
        for form in {*one.forms} & {*record.forms} - {"bidirectional"}
    )
    assert not any(one.applies(linattn.variant("delta_rule"), form) for one in own for form in one.forms)


@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.id)
def test_exact_cases_hold_in_half_precision(case):
    """Nothing of them rounds: neither the results nor what goes in."""
    data = linattn_golden.load(case)
    for x in (data.output, *data.final_state, *data.initial_state, *data.inputs.values()):
        x = np.asarray(x, dtype=float)
        assert np.array_equal(x.astype(np.float16).astype(float), x)
        assert np.array_equal(bfloat16(x), x)


def test_the_diagonal_is_exact_for_one_hot_keys():
    """So that a mistake of the exact Longhorn is none in that case, and is seen in the others."""
    one, variant = mistake("erase-by-the-diagonal"), linattn.variant("longhorn")
    changes = {}
    for case in linattn_golden.cases("longhorn", "certified"):
        data = linattn_golden.load(case)
        call = call_of(variant, "recurrent", data.inputs, data.initial_state)
        changes[case.id] = not np.allclose(one.wrong(call)["output"], right(call)["output"], rtol=1e-12)
    assert not changes["longhorn/exact-strength"]
    assert changes["longhorn/odd-dims"]


def test_one_mini_batch_for_each_token_is_what_is_usual_in_the_other_cases():
    """The mini-batches alone tell it from a mistake."""
    one, variant = mistake("batch-of-every-token"), linattn.variant("ttt_linear")
    told = set()
    for case in linattn_golden.cases("ttt_linear", "certified"):
        data = linattn_golden.load(case)
        call = call_of(variant, "recurrent", data.inputs, data.initial_state)
        told |= {case.id} if not np.array_equal(one.wrong(call)["output"], right(call)["output"]) else set()
    assert told == {"ttt_linear/mini-batches"}
    assert len(linattn_golden.load(linattn_golden.case("ttt_linear/mini-batches")).output[0, 0]) > CHUNK
