"""Rotations: scores know distances, lengths stay, and the two pairings are one function of permuted channels."""

import random

import numpy as np
import pytest
from drawing import close
from textbook import all_derivatives

from linattn import rotary
from linattn.algebra import dot
from linattn.numbers import ball, field

EACH_PAIRING = pytest.mark.parametrize("pairing", rotary.PAIRINGS)
RNG = np.random.default_rng(0)
X, ANGLES = RNG.normal(size=(4, 6)), RNG.normal(size=(4, 3))


@EACH_PAIRING
def test_it_is_a_product_of_complex_numbers(pairing):
    a, b = {"interleaved": (X[:, ::2], X[:, 1::2]), "half": (X[:, :3], X[:, 3:])}[pairing]
    turned = (a + 1j * b) * np.exp(1j * ANGLES)
    got = rotary.rotate(X, ANGLES, pairing)
    first, second = {"interleaved": (got[:, ::2], got[:, 1::2]), "half": (got[:, :3], got[:, 3:])}[pairing]
    assert close(first, turned.real, 10)
    assert close(second, turned.imag, 10)


def test_the_pairings_differ_by_a_permutation():
    """Exactly, whatever cos and sin are."""
    rng = random.Random(0)
    x, angles = field.draw((4, 6), "number", rng), field.draw((4, 3), "number", rng)
    order = [0, 2, 4, 1, 3, 5]
    half = rotary.rotate(x[:, order], angles, "half")
    assert np.array_equal(half, rotary.rotate(x, angles)[:, order])
    assert not np.array_equal(rotary.rotate(x, angles, "half"), rotary.rotate(x, angles))


@EACH_PAIRING
def test_scores_know_distances_alone(pairing):
    """q at m and k at n, and both 5 later: certified to the same bytes, and the same as q turned by m - n."""
    frequencies = np.array([1.0, 0.125, 2.0**-7])

    def score(x):
        q, k = (rotary.rotate(x[name], x[f"turn of {name}"], pairing) for name in "qk")
        return {"score": dot(q, k)}

    def scores(m, n):
        turns = {"turn of q": m * frequencies[None], "turn of k": n * frequencies[None]}
        return ball.certify(score, {"q": X[:1], "k": X[1:2]} | turns)[0]["score"].tobytes()

    assert scores(7, 3) == scores(12, 8) == scores(4, 0)
    assert scores(7, 3) != scores(3, 7)


@EACH_PAIRING
def test_lengths_stay_and_turning_back_undoes_it(pairing):
    turned = rotary.rotate(X, ANGLES, pairing)
    assert close(np.linalg.norm(turned, axis=-1), np.linalg.norm(X, axis=-1), 20)
    assert close(rotary.rotate(turned, -ANGLES, pairing), X, 20)
    assert np.array_equal(rotary.rotate(X, 0 * ANGLES, pairing), X)


@EACH_PAIRING
def test_channels_beyond_the_angles_pass(pairing):
    part = rotary.rotate(X, ANGLES[:, :2], pairing)
    assert np.array_equal(part[:, 4:], X[:, 4:])
    assert np.array_equal(part[:, :4], rotary.rotate(X[:, :4], ANGLES[:, :2], pairing))
    one = rotary.rotate(X[0], ANGLES[:, :2], pairing)  # by each of the angles
    assert np.array_equal(one[0], part[0])
    assert np.array_equal(one[:, 4:], np.broadcast_to(X[0, 4:], (4, 2)))


@EACH_PAIRING
def test_the_derivative(pairing):
    def function(x, angles):
        return np.arange(1, 7) * rotary.rotate(x, angles, pairing)

    assert all_derivatives(function, function, {"x": X[:1], "angles": ANGLES[:1]})


def test_frequencies():
    """The last one tells them apart: 10000^(-(R-2)/R) in RoPE, 1/10000 in RetNet."""
    assert np.allclose(rotary.rope_frequencies(4), [1, 0.01], rtol=1e-15)
    assert np.allclose(rotary.retnet_frequencies(4), [1, 1e-4], rtol=1e-15)
    assert np.allclose(rotary.rope_frequencies(8), 10000 ** -np.array([0, 0.25, 0.5, 0.75]), rtol=1e-15)
    assert np.allclose(rotary.retnet_frequencies(6, base=100), [1, 0.1, 0.01], rtol=1e-15)
    assert rotary.angles(np.arange(5), rotary.rope_frequencies(8)).shape == (5, 4)


def test_fixed_decay_and_rotation_are_one_complex_decay():
    """Retention of rotated q and k, seen pair by pair: Re sum conj(k_s) q_t (gamma e^(i theta))^(t - s)."""
    q, k = X, RNG.normal(size=(4, 6))
    frequencies = rotary.rope_frequencies(6)
    turns = rotary.angles(np.arange(4), frequencies)
    scores = rotary.rotate(q, turns) @ rotary.rotate(k, turns).T
    pairs_q, pairs_k = q[:, ::2] + 1j * q[:, 1::2], k[:, ::2] + 1j * k[:, 1::2]
    for t in range(4):
        for s in range(t + 1):
            complex_decay = (0.9 * np.exp(1j * frequencies)) ** (t - s)
            wanted = (pairs_q[t] * pairs_k[s].conj() * complex_decay).sum().real
            assert np.isclose(0.9 ** (t - s) * scores[t, s], wanted, rtol=1e-13)


@EACH_PAIRING
def test_xpos_falls_with_the_distance(pairing):
    """Pair i has the factor zeta_i^((m - n) / base), wherever m and n are: the middle of a sequence cancels."""
    scales = rotary.xpos_scales(np.array([700.0, 200]), 6)
    zeta = (np.array([0, 2, 4]) + 2.4) / 8.4
    assert np.allclose(scales[0] / scales[1], zeta ** (500 / 512), rtol=1e-14)
    no_turn = np.zeros((1, 3))
    for pair in range(3):
        a, b = {"interleaved": (2 * pair, 2 * pair + 1), "half": (pair, pair + 3)}[pairing]
        x = np.zeros((1, 6))
        x[0, [a, b]] = 3, 4
        q, k = rotary.xpos(x, no_turn, scales[:1], pairing), rotary.xpos(x, no_turn, 1 / scales[1:], pairing)
        assert np.isclose((q * k).sum(), 25 * zeta[pair] ** (500 / 512), rtol=1e-14)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"^angles must be at most 3 pairs of channels; got 4$"):
        rotary.rotate(X, np.zeros((4, 4)))
    with pytest.raises(ValueError, match=r"^pairing must be one of interleaved, half; got 'neox'$"):
        rotary.rotate(X, ANGLES, "neox")
