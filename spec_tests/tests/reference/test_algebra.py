"""The shared operations against NumPy and SciPy, and on every number system."""

import random

import numpy as np
import pytest
from drawing import close, over_floats
from scipy.linalg import solve_triangular
from scipy.special import softmax

from linattn import algebra, forms, variant
from linattn.numbers import field, lift
from linattn.numbers.ball import Ball
from linattn.numbers.noise import Arithmetic, Noisy, noisy
from linattn.numbers.tape import Traced

RNG = np.random.default_rng(0)


def exponents(*shape):
    return field.draw(shape, "log", random.Random(1))


@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_contractions_are_those_of_their_docstrings(leading):
    q, k = (RNG.normal(size=(*leading, 7, 5)) for _ in range(2))
    v, S, between = (RNG.normal(size=(*leading, *core)) for core in ((7, 3), (5, 3), (7, 7, 5)))
    token = (..., 2, slice(None))
    assert close(algebra.outer(k[token], v[token]), k[token][..., :, None] * v[token][..., None, :])
    assert close(algebra.read(q[token], S), (q[token][..., :, None] * S).sum(axis=-2))
    assert close(algebra.dot(q, k), (q * k).sum(axis=-1, keepdims=True))
    pairs = q[..., :, None, :] * k[..., None, :, :]
    assert close(algebra.products(q, k, between), (pairs * between).sum(axis=-1))
    assert close(algebra.products(q, k, between[..., :1]), (pairs * between[..., :1]).sum(axis=-1))
    assert np.array_equal(algebra.transpose(S), np.moveaxis(S, -1, -2))


@pytest.mark.parametrize("tokens", [1, 2, 7])
@pytest.mark.parametrize("leading", [(), (3,)])
def test_forward_substitution_is_that_of_scipy(tokens, leading):
    """Diagonally dominant enough that both are accurate."""
    L = np.tril(RNG.uniform(-1, 1, size=(*leading, tokens, tokens)) / tokens, -1)
    B = RNG.normal(size=(*leading, tokens, 2))
    X = algebra.unit_lower_solve(L, B)
    for at in np.ndindex(leading):
        assert close(X[at], solve_triangular(L[at] + np.eye(tokens), B[at], lower=True, unit_diagonal=True))


def test_forward_substitution_solves_exactly_over_the_field():
    L, B = (field.draw(shape, "number", random.Random(2)) for shape in ((6, 6), (6, 3)))
    L = np.tril(L, -1)
    X = algebra.unit_lower_solve(L, B)
    assert np.array_equal(X + L @ X, B)


@pytest.mark.parametrize("tokens", [1, 16, 17, 40])
def test_the_online_softmax_is_that_of_scipy(tokens):
    """A query at the end sees every key; 16 is the size of a block."""
    attention = variant("softmax_attention")
    (keys, values), inputs = over_floats(attention, T=tokens, P=0)
    inputs["scale"] = np.array(3.0)
    _, output = forms.parallel(attention, (keys, values), inputs)
    weights = softmax(3.0 * inputs["q"] @ inputs["k"].T + np.triu(np.full((tokens, tokens), -np.inf), 1), axis=-1)
    assert close(output, weights @ inputs["v"])


@pytest.mark.parametrize("width", [1, 3])
def test_decays_are_products_of_single_decays(width):
    """Exactly over the field, with logarithms of zero."""
    log_decay = exponents(5, width)
    log_decay[2] = field.Log(None)
    between, since_start, until_end = algebra.decays(log_decay)
    alpha = np.exp(log_decay)

    def product(start, stop):
        return np.multiply.reduce(alpha[start:stop], axis=0) if stop > start else np.ones(width, dtype=int)

    for t in range(5):
        assert np.array_equal(since_start[t], product(0, t + 1))
        assert np.array_equal(until_end[t], product(t + 1, 5))
        for s in range(5):
            assert np.array_equal(between[t, s], product(s + 1, t + 1) if s <= t else np.zeros(width, dtype=int))


def test_decays_of_floats_are_cumulative_products_and_keep_minus_infinity():
    log_decay = -RNG.uniform(0, 5, size=(2, 6, 3))
    log_decay[0, 3] = -np.inf
    between, since_start, until_end = algebra.decays(log_decay)
    alpha = np.exp(log_decay)
    products = 10 * 2.0**-53  # at most five multiplications on either side, in another order
    np.testing.assert_allclose(since_start, np.cumprod(alpha, axis=-2), rtol=products)
    np.testing.assert_allclose(until_end[:, :-1], np.cumprod(alpha[:, :0:-1], axis=-2)[:, ::-1], rtol=products)
    assert (until_end[:, -1] == 1).all()
    assert (between[0, 3:, :3] == 0).all()
    assert np.isfinite(between).all()


def test_decays_beyond_the_smallest_float_are_0_and_do_not_overflow():
    """exp(-cumsum) would be infinite."""
    between, since_start, _ = algebra.decays(np.full((9, 1), -500.0))
    assert between.max() == 1
    assert since_start[-1, 0] == 0


def each(convert):
    return lambda x: lift(convert, {"x": x})["x"]


SYSTEMS = {
    "float": lambda x: x,
    "complex": lambda x: x.astype(complex),
    "balls": each(Ball),
    "tape": Traced,
    "tape over balls": lambda x: Traced(each(Ball)(x)),
    "field": each(lambda x: field.Log(int(x) + 9)),
}


def plain(array):
    """Back to floats."""
    array = array.value if isinstance(array, Traced) else array
    return [x.exponent - 9.0 if isinstance(x, field.Log) else as_float(x) for x in array.ravel()]


def as_float(x):
    return float(x.arb.mid()) if isinstance(x, Ball) else x.real


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)
def test_the_larger_and_the_largest_on_every_number_system(system):
    x, y = np.array([[3.0, -1, 2, 2]]), np.array([[-3.0, 1, 2, 8]])
    assert plain(algebra.maximum(system(x), system(y))) == np.maximum(x, y)[0].tolist()
    assert plain(algebra.maximum(system(x), system(x))) == x[0].tolist()
    assert plain(algebra.largest(system(x))) == [3.0]


@pytest.mark.parametrize("system", [SYSTEMS["balls"], SYSTEMS["tape"], SYSTEMS["tape over balls"]])
def test_the_larger_of_mixed_numbers(system):
    """Plain floats beside balls or a traced array, on either side."""
    own = system(np.array([1.0]))
    for larger in (algebra.maximum(own, np.array([5.0])), algebra.maximum(np.array([5.0]), own)):
        assert plain(larger) == [5.0]


def test_the_larger_of_noisy_numbers_is_noisy_and_not_rounded():
    x = noisy(np.array([0.1, 0.3]), Arithmetic(24, 24))
    assert isinstance(algebra.largest(x), Noisy)
    assert np.array_equal(algebra.maximum(x, 0 * x), x)
