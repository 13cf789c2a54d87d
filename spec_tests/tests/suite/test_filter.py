"""The matched filter itself, on errors and signatures made by hand."""

import numpy as np
import pytest

from linattn_spec import PROFILES, diagnosis
from linattn_spec.diagnosis import in_units
from linattn_spec.matching import EXPLAINED, HUGE, RESOLVED, Match, Signatures, explain
from linattn_spec.verdict import LEAST


def signatures_of(*values):
    """Signatures named a, b, ... from arrays (heads, elements)."""
    stacked = np.array(values, dtype=float)
    return Signatures(tuple("abcdef"[: len(values)]), stacked, np.sum(stacked**2, axis=-1))


ALONG = np.array([[RESOLVED + 1, 0, 0, 0]])
ACROSS = np.array([[0, RESOLVED + 1, 0, 0]])


@pytest.mark.parametrize("strength", [0.51, 0.6, 1.0, 3.0])
def test_the_coefficient_is_the_strength(strength):
    match = explain(strength * ALONG + 5 * ACROSS[:, ::-1], signatures_of(ALONG, ACROSS), unexplained=np.inf)
    assert match.mistakes == ("a",)
    assert match.coefficient == pytest.approx(strength)


@pytest.mark.parametrize("strength", [0.5, 0.0, -1.0])
def test_nothing_is_named_up_to_half_a_signature(strength):
    assert explain(strength * ALONG, signatures_of(ALONG, ACROSS), unexplained=np.inf) is None


def test_what_is_left_over_is_a_share_of_the_errors():
    errors = ALONG + 0.2 * ACROSS
    match = explain(errors, signatures_of(ALONG))
    assert match.left_over == pytest.approx(0.2 / 1.04**0.5)
    assert explain(ALONG + 2 * EXPLAINED * ACROSS, signatures_of(ALONG)) is None


def test_a_signature_that_is_not_resolved_names_nothing():
    small = ALONG * RESOLVED / (RESOLVED + 1)  # exactly at the threshold, and not above
    assert explain(3 * small, signatures_of(small), unexplained=np.inf) is None
    assert explain(3 * ALONG, signatures_of(ALONG), unexplained=np.inf) is not None


def test_no_errors_and_no_signatures_have_no_match():
    assert explain(0 * ALONG, signatures_of(ALONG)) is None
    assert explain(ALONG, Signatures((), np.zeros((0, 1, 4)), np.zeros((0, 1)))) is None


def test_signatures_are_resolved_by_their_norm_and_can_be_left_out():
    known = signatures_of(ALONG, ACROSS / 2)
    assert known.resolves("a")
    assert not known.resolves("b")
    assert not known.resolves("z")
    assert known.without("a").ids == ("b",)
    assert not known.without("a").resolves("a")
    assert np.array_equal(known.without("a").values, known.values[1:])


LOST = np.array([[HUGE, -HUGE, 0, 0]])
OTHERS = np.array([[0, 0, 9000.0, 0]])


def test_values_that_are_not_finite_are_told_by_their_places():
    known = signatures_of(LOST, np.roll(LOST, 1), ALONG)
    match = explain(-LOST, known)  # the sign of a NaN says nothing
    assert (match.mistakes, match.coefficient, match.left_over) == (("a",), 1.0, 0.0)
    assert explain(np.roll(LOST, 2), known) is None


def test_of_the_same_lost_places_the_other_errors_decide():
    known = signatures_of(LOST, LOST + OTHERS)
    assert explain(LOST + OTHERS, known).mistakes == ("b",)
    assert explain(LOST, known).mistakes == ("a",)
    assert explain(LOST - OTHERS, known) is None
    assert explain(LOST + ALONG, signatures_of(LOST, LOST)).mistakes == ("a", "b")  # as small as rounding may be


def test_nothing_but_lost_values_looks_like_what_loses_all_of_them():
    everything = np.full((1, 4), HUGE)
    assert explain(everything, signatures_of(LOST, ALONG)) is None
    assert explain(everything, signatures_of(LOST, everything)).mistakes == ("b",)


def test_what_must_be_exact_is_told_by_its_values_too():
    """Its unit is no unit for the filter: all differences would be lost values."""
    x, units = {"output": np.full((1, 1, 1, 1), 2.0**-20)}, {"output": np.full((1, 1, 1, 1), LEAST)}
    assert 0 < in_units(x, units, ("output",)).item() < HUGE


def test_errors_are_in_units_head_by_head_and_undetermined_tokens_are_none():
    x = {"output": np.array([3.0, np.nan, np.inf, 5.0, 7.0, -np.inf]).reshape(1, 2, 3, 1)}
    units = {"output": np.array([0.5, np.inf, 1.0, np.inf, 7.0, 1.0]).reshape(1, 2, 3, 1)}
    assert in_units(x, units, ("output",)).tolist() == [[6, 0, HUGE], [0, 1, -HUGE]]


def test_grouped_heads_stand_side_by_side_with_their_state():
    x = {"output": np.arange(4.0).reshape(1, 4, 1, 1), "final_state/S": np.array([8.0, 9.0]).reshape(1, 2, 1, 1)}
    units = {name: np.ones_like(values) for name, values in x.items()}
    assert in_units(x, units, ("final_state/S", "output")).tolist() == [[8, 0, 1], [9, 2, 3]]


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (Match(("a",), 1.0, 0.0), "looks like `a` (coefficient 1.00)"),
        (Match(("a", "b"), 0.987, 0.0), "looks like `a` or `b` (coefficient 0.99)"),
        (Match(("a", "b", "c", "d"), 1.0, 0.0), "looks like `a` or `b` or `c` (coefficient 1.00)"),
        (Match(("a",), 1.0, 0.0, (2,)), "looks like `a` in head 2 (coefficient 1.00)"),
        (Match(("a",), 1.0, 0.0, (0, 2)), "looks like `a` in heads 0, 2 (coefficient 1.00)"),
    ],
)
def test_a_match_in_words(match, words):
    assert str(match) == words


def test_signatures_grow_with_the_precision_that_is_promised():
    """The same difference is larger in the units of a more precise profile."""
    names = ("final_state/S", "output")
    known = [diagnosis.signatures("gla/odd-dims", "recurrent", PROFILES[name], names) for name in ("bf16", "fp32")]
    bf16, fp32 = (found.powers[found.ids.index("scale-missing")].sum() for found in known)
    assert bf16 < fp32
