"""Normalisations are their formulas, and differ where they are said to."""

import numpy as np
import pytest
from textbook import all_derivatives, all_digits

from linattn import norms

X = np.random.default_rng(0).normal(size=(3, 6))
GATE = np.random.default_rng(1).normal(size=(3, 6))
WEIGHT = np.array([0.5, 1, 2, -1, 3, 0.25])
EPS = 2.0**-20


def by_loops(normalise, groups=1):
    """Group by group and number by number, as it stands in print."""

    def formula(x, *more):
        size = x.shape[-1] // groups
        rows = [[list(row[n : n + size]) for n in range(0, x.shape[-1], size)] for row in x]
        return np.array([[y for part in row for y in normalise(part)] for row in rows], dtype=x.dtype)

    return formula


def root(x):
    """The square root of one number of any system."""
    return np.sqrt(np.array([x]))[0]


def length(part):
    return root(sum(x * x for x in part))


def centred(part):
    return [x - sum(part) / len(part) for x in part]


def over_rms(part, eps=EPS):
    return [x / root(sum(y * y for y in part) / len(part) + eps) for x in part]


FORMULAS = {
    "l2": (lambda x: norms.l2_norm(x, EPS), lambda part: [x / root(sum(y * y for y in part) + EPS) for x in part]),
    "clamped": (lambda x: norms.l2_norm_clamped(x, EPS), lambda part: [x / length(part) for x in part]),
    "sum": (
        lambda x: norms.sum_norm(x * x, EPS),
        lambda part: [x * x / (sum(y * y for y in part) + EPS) for x in part],
    ),
    "rms": (lambda x: norms.rms_norm(x, eps=EPS), over_rms),
    "layer": (lambda x: norms.layer_norm(x, eps=EPS), lambda part: over_rms(centred(part))),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_every_digit(name):
    """Means that are subtracted cancel less than 4 bits here; six squares add up to 3 roundings each."""
    function, normalise = FORMULAS[name]
    assert all_digits(function, by_loops(normalise), {"x": X})


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_groups(groups):
    assert all_digits(lambda x: norms.rms_norm(x, eps=EPS, groups=groups), by_loops(over_rms, groups), {"x": X})
    grouped = norms.group_norm(X, groups, WEIGHT, 2.0, EPS)
    parts = [norms.layer_norm(part, eps=EPS) for part in np.split(X, groups, axis=-1)]
    assert np.allclose(grouped, WEIGHT * np.concatenate(parts, axis=-1) + 2, rtol=1e-14)


def weighted(norm):
    """The plain sum of a normalised vector may be constant."""
    return lambda x: WEIGHT * norm(x)


@pytest.mark.parametrize("name", FORMULAS)
def test_the_derivative(name):
    """That of the function itself on balls: the tape and the complex step on floats agree with it."""
    function = weighted(FORMULAS[name][0])
    assert all_derivatives(function, function, {"x": X})


def test_eps_under_the_root_and_beside_it():
    """A unit vector loses eps / 2; at the length sqrt(eps) one has 1 / sqrt 2 left, the other is of unit length."""
    unit = np.array([0.6, 0.8])
    assert np.isclose(1 - np.linalg.norm(norms.l2_norm(unit, 1e-6)), 0.5e-6, rtol=1e-5)
    assert np.linalg.norm(norms.l2_norm_clamped(unit)) == 1
    short = 1e-3 * unit
    assert np.isclose(np.linalg.norm(norms.l2_norm(short, 1e-6)), 0.5**0.5, rtol=1e-12)
    assert np.isclose(np.linalg.norm(norms.l2_norm_clamped(short)), 1, rtol=1e-15)
    assert np.isclose(np.linalg.norm(norms.l2_norm_clamped(1e-15 * unit)), 1e-3, rtol=1e-12)


@pytest.mark.parametrize("norm", [norms.l2_norm, norms.l2_norm_clamped, norms.rms_norm, norms.layer_norm])
def test_zero_stays_zero_and_has_a_derivative(norm):
    zero = {"x": np.zeros((1, 6))}
    assert not norm(**zero).any()
    assert all_derivatives(weighted(norm), weighted(norm), zero)


def test_sums():
    assert np.allclose(norms.sum_norm(X * X).sum(axis=-1), 1, rtol=1e-15)
    with np.errstate(invalid="ignore"):
        assert np.isnan(norms.sum_norm(np.zeros(3))).all()
    assert not norms.sum_norm(np.zeros(3), 1e-5).any()


def test_the_gate_before_and_behind_the_norm():
    """Only before it can a factor common to all gates cancel."""
    opened = GATE / (1 + np.exp(-GATE))
    behind = norms.gated_rms_norm(X, GATE, WEIGHT, EPS, groups=2)
    assert np.allclose(behind, WEIGHT * norms.rms_norm(X, 1, EPS, 2) * opened, rtol=1e-14)
    before = norms.gated_rms_norm(X, GATE, WEIGHT, EPS, groups=2, norm_before_gate=False)
    assert np.allclose(before, norms.rms_norm(X * opened, WEIGHT, EPS, 2), rtol=1e-14)
    assert not np.isclose(before, behind).any()
    half = norms.gated_rms_norm(X, 0 * GATE, WEIGHT, EPS, gate_activation="sigmoid")
    assert np.array_equal(half, norms.rms_norm(X, WEIGHT, EPS) / 2)


def test_factors_cancel_but_for_eps():
    assert np.array_equal(norms.rms_norm(4 * X, eps=0), norms.rms_norm(X, eps=0))
    assert np.allclose(norms.layer_norm(4 * X + 1, eps=0), norms.layer_norm(X, eps=0), rtol=1e-13)


def test_groups_must_divide():
    with pytest.raises(ValueError, match=r"^groups must divide the 6 channels; got 4$"):
        norms.rms_norm(X, groups=4)
