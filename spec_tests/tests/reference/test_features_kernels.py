"""phi(q).phi(k) is the declared kernel: exactly, or as a mean over draws."""

import numpy as np
import pytest
from feature_maps import each, given

from linattn import FEATURE_MAPS, feature_map
from linattn.algebra import dot
from linattn.numbers import ball

POINTS = {name: np.random.default_rng(n).normal(size=(4, 3)) for n, name in enumerate("qk")}
RANDOM = [phi for phi in FEATURE_MAPS if phi.in_expectation]
EXACT = [phi for phi in FEATURE_MAPS if phi.kernel and not phi.in_expectation]


@pytest.mark.parametrize(
    ("phi", "degree"),
    [(phi, degree) for phi in EXACT for degree in ((0, 1, 2, 3, 4) if "degree" in phi.parameters else (None,))],
    ids=lambda x: getattr(x, "name", x),
)
def test_the_kernel_in_closed_form(phi, degree):
    """phi(q).phi(k) and the formula certify to the same bytes."""
    parameters = given(phi, degree=degree)
    by_features, _ = ball.certify(
        lambda x: {"kernel": dot(phi(x["q"], **parameters), phi(x["k"], **parameters))}, POINTS
    )
    closed, _ = ball.certify(lambda x: {"kernel": phi.kernel(x["q"], x["k"], **parameters)}, POINTS)
    assert by_features["kernel"].tobytes() == closed["kernel"].tobytes()


def mean_square(phi, q, k, sigma):
    """The variance of one draw, relative to the square of the kernel: lemma 2 (8) of Choromanski et al."""
    if phi.name in ("positive_random", "hyperbolic_random"):
        s = ((q + k) ** 2).sum(axis=-1)
        return np.expm1(s) if phi.name == "positive_random" else np.cosh(s) - 1
    if phi.name == "rfa":
        q, k = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (q, k))
    s = (((q - k) / sigma) ** 2).sum(axis=-1)  # one draw is cos(w.(q - k) / sigma)
    return (1 - np.exp(-s)) ** 2 / (2 * np.exp(-s))


@each(RANDOM)
def test_the_kernel_in_expectation(phi):
    """Many draws: the mean is off by less than 4 of its standard errors, which the second moments give."""
    draws = 200_000
    q, k, sigma = POINTS["q"] / 2, POINTS["k"] / 2, 1.5
    W = np.random.default_rng(2).normal(size=(draws, 3))
    parameters = given(phi, W=W, sigma=sigma)
    got = dot(phi(q, **parameters), phi(k, **parameters))[:, 0]
    exact = phi.kernel(q, k, **parameters)[:, 0]
    error = exact * np.sqrt(mean_square(phi, q, k, sigma) / draws)
    assert np.all(error < 0.01 * exact)  # a factor that is wrong by some per cent would be seen
    assert np.all(np.abs(got - exact) < 4 * error)


def test_the_variance_of_one_draw_is_that_of_the_lemma():
    """From 10^5 single draws of q.k that are small, where fourth moments are finite enough: within 5 per cent."""
    q, k = np.array([0.25, 0.5, 0.0]), np.array([0.25, -0.25, 0.5])
    W = np.random.default_rng(3).normal(size=(100_000, 1, 3))
    for phi in RANDOM:
        parameters = given(phi, W=W, sigma=1.5)
        each_draw = dot(phi(q[None], **parameters), phi(k[None], **parameters))
        exact = phi.kernel(q[None], k[None], **parameters)
        wanted = mean_square(phi, q[None], k[None], 1.5)
        assert np.allclose(each_draw.var() / exact**2, wanted, rtol=0.05), phi.name


def test_hyperbolic_features_have_less_than_half_of_the_variance():
    plain, hyperbolic = (mean_square(phi, POINTS["q"], POINTS["k"], 1) for phi in RANDOM[2:])
    assert [phi.name for phi in RANDOM[2:]] == ["positive_random", "hyperbolic_random"]
    assert np.all(hyperbolic < plain / 2)


def test_one_draw_of_a_positive_kernel_can_be_negative():
    """Why random Fourier features are declared signed: cos(w.(q - k)) for one w."""
    phi = feature_map("random_fourier")
    x = np.array([[0.0], [np.pi]])
    mapped = phi(x, W=np.ones((1, 1)), sigma=1)
    assert mapped[0] @ mapped[1] == -1
    assert phi.kernel(x[:1], x[1:], W=None, sigma=1) > 0


def test_rfa_sees_directions_alone():
    phi, W = feature_map("rfa"), np.random.default_rng(0).normal(size=(5, 3))
    q = POINTS["q"]
    assert np.array_equal(phi(4 * q, W=W, sigma=1), phi(q, W=W, sigma=1))
    with np.errstate(invalid="ignore"):
        assert np.isnan(phi(np.zeros((1, 3)), W=W, sigma=1)).all()


def test_every_product_of_channels_counts_as_often_as_it_occurs():
    """The squares of the features of (1, 1, 1) are the multinomial coefficients."""
    of_ones = feature_map("symmetric_power")(np.ones((1, 3)), degree=2)
    assert np.allclose(of_ones**2, [[1, 2, 2, 1, 2, 1]], rtol=1e-15)
