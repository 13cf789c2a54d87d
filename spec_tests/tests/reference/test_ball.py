"""Balls are loud where they know too little, and what they certify is correctly rounded."""

import math
import operator
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from hypothesis import assume, given
from hypothesis import strategies as st

from linattn.numbers import ball
from linattn.numbers.ball import Ball, NotCertified, Undecided, bounds, certify

FLOATS = st.floats(-1e6, 1e6)
ABOUT_ONE = Ball(1) / 3 * 3  # encloses 1, and does not know that it is 1


def proven(compute, **numbers):
    """The one certified number of a function of some numbers."""
    results, precision = certify(lambda x: {"y": np.array([compute(**x)])}, numbers)
    return float(results["y"][0]), precision


@pytest.mark.parametrize(
    "demote",
    [float, math.exp, lambda x: np.array([x], dtype=float), lambda x: operator.setitem(np.zeros(1), 0, x)],
    ids=["float", "math", "asarray", "assignment"],
)
def test_nothing_falls_back_to_float(demote):
    with pytest.raises(TypeError):
        demote(Ball(1))


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
def test_overlapping_balls_are_undecided(compare):
    with pytest.raises(Undecided):
        compare(ABOUT_ONE, 1)
    with pytest.raises(Undecided):
        np.where(compare(np.array([ABOUT_ONE]), np.array([Ball(1)])), 0, 1)


@given(FLOATS, FLOATS)
def test_exact_balls_compare_like_numbers(x, y):
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        assert compare(Ball(x), Ball(y)) == compare(Ball(x), y) == compare(x, y)


def test_the_maximum_at_a_tie_encloses_both():
    for larger in (ABOUT_ONE.maximum(1), Ball(1).maximum(ABOUT_ONE), ABOUT_ONE.maximum(ABOUT_ONE)):
        low, high = larger.arb.lower(), larger.arb.upper()
        assert low <= 1 <= high
        assert high - low < 1e-10


@given(FLOATS, FLOATS)
def test_the_maximum_of_numbers(x, y):
    assert Ball(x).maximum(Ball(y)) == Ball(x).maximum(y) == max(x, y)


@pytest.mark.parametrize("other", ["1", None, 1j, [1]])
def test_what_is_no_real_number_is_refused(other):
    for operation in (operator.add, operator.sub, operator.mul, operator.truediv, operator.lt):
        with pytest.raises(TypeError):
            operation(Ball(1), other)


@given(FLOATS, FLOATS, FLOATS)
def test_rational_results_are_correctly_rounded(x, y, z):
    """Fractions are exact, and their conversion to float is correctly rounded."""
    a, b, c = Fraction(x), Fraction(y), Fraction(z)
    exact = a * b + c
    assume(exact != 0)
    assert proven(lambda x, y, z: x * y + z, x=x, y=y, z=z)[0] == float(exact)
    assert proven(lambda x, y, z: (x - z) / (y * y + 1), x=x, y=y, z=z)[0] == float((a - c) / (b * b + 1))


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh"])
def test_functions_are_those_of_numpy_up_to_an_ulp(name):
    """NumPy's own are right within some 4 ulp; a wrong function would be far away."""
    x = np.array([2.0**-30, 0.3, 1.0, 5.5, 600.0])
    results, _ = certify(lambda balls: {"y": getattr(np, name)(balls["x"])}, {"x": x})
    assert np.all(np.abs(results["y"] - getattr(np, name)(x)) <= 4 * np.spacing(np.abs(results["y"])))


def test_subnormal_results_and_zeros():
    """The smallest double is 2^-1074; half of it is a tie, which goes to the even 0. Zeros are positive."""
    assert proven(lambda x: x * 2.0**-537, x=2.0**-537)[0] == 2.0**-1074
    assert math.copysign(1, proven(lambda x: x / 3 * 3 - x, x=1.0)[0]) == 1  # known only as less than 2^-1075 in size
    assert proven(lambda x: np.exp(x), x=-np.inf)[0] == 0


def test_more_bits_are_taken_where_they_are_needed():
    """1 + 2^-300 - 1: everything below 300 bits loses the small term."""
    value, precision = proven(lambda x: (1 + x) - 1, x=2.0**-300)
    assert value == 2.0**-300
    assert precision == 384
    assert proven(lambda x: (1 + x) - 1, x=0.5)[1] == ball.PRECISIONS[0]


def test_more_bits_are_taken_where_a_comparison_is_undecided():
    """1 + 2^-200 > 1 is undecided where the left side was computed with fewer bits."""
    value, precision = proven(lambda x: 5 if (Ball(1) / 3 + x) * 3 > 1 else 7, x=2.0**-200)
    assert (value, precision) == (5, 256)


def test_an_exact_tie_is_certified():
    """1 + 2^-53 lies half-way between two doubles. Computed exactly both ends are equal, and it goes to the even 1."""
    assert proven(lambda x: 1 + x, x=2.0**-53)[0] == 1


@pytest.mark.parametrize(
    "unknown",
    [
        lambda x: 1 + x * (Ball(1) / 3 * 3),  # a tie within a radius: one end goes down, the other up
        lambda x: 1 / (x - x),  # a pole
        lambda x: (1000 + x).exp(),  # beyond the largest float64
        lambda x: 1 if Ball(1) / 3 * 3 > 1 else 0,  # a comparison that no precision decides
    ],
)
def test_what_no_precision_proves_is_not_certified(monkeypatch, unknown):
    monkeypatch.setattr(ball, "PRECISIONS", (96, 128))
    before = ctx.prec
    with pytest.raises(NotCertified, match="not every value is proven at 128 bits"):
        proven(unknown, x=2.0**-53)
    assert ctx.prec == before


def test_one_unproven_value_among_many_is_enough():
    with pytest.raises(NotCertified):
        certify(lambda x: {"y": np.array([Ball(1), 1 / (x["x"] - x["x"])])}, {"x": 1.0})


@given(FLOATS, FLOATS)
def test_bounds_enclose(x, y):
    ends = bounds(np.array([[Ball(x) / 3 + Ball(y)]]))
    exact = Fraction(x) / 3 + Fraction(y)
    assert ends[0].shape == ends[1].shape == (1, 1)
    assert ends[0][0, 0] <= float(exact) <= ends[1][0, 0]


def test_bounds_of_nothing_have_its_shape():
    assert [end.shape for end in bounds(np.zeros((0, 3)))] == [(0, 3), (0, 3)]
