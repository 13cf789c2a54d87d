"""phi(q).phi(k) is the declared kernel: exactly, as a mean over draws, or in the limit."""

import math

import numpy as np
import pytest
from drawing import close
from feature_maps import each, given

from linattn import FEATURE_MAPS, feature_map, forms, variant
from linattn.algebra import dot
from linattn.features import kernels
from linattn.numbers import ball

POINTS = {name: np.random.default_rng(0).normal(size=(4, 3)) for name in "q"}
POINTS["k"] = np.random.default_rng(1).normal(size=(4, 3))
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


def causal(phi, q, k, v, **parameters):
    """Normalised linear attention of features, from the empty state."""
    attention = variant("normalised_linear_attention")
    inputs = {"q": phi(q, **parameters), "k": phi(k, **parameters), "v": v, "eps": np.zeros(())}
    width = inputs["k"].shape[-1]
    return forms.parallel(attention, (np.zeros((width, v.shape[-1])), np.zeros(width)), inputs)[1]


def softmax(q, k, v, scale):
    attention = variant("softmax_attention")
    inputs = {"q": q, "k": k, "v": v, "scale": np.asarray(scale)}
    return forms.parallel(attention, (k[:0], v[:0]), inputs)[1]


Q, K, V = (np.random.default_rng(n).normal(size=(7, 3)) for n in (4, 5, 6))


def test_taylor_series_approach_softmax_attention():
    """Scores below 4 in size: even partial sums then fall with every degree, to the exponential from either side.

    S_{p+2} - S_p = z^(p+1) / (p+1)! (1 + z / (p+2)) has the sign of the error that is left. If every weight is off by
    at most a share d of itself, the mean is off by at most 2 d / (1 - d) of the largest value.
    """
    scores = Q @ K.T / math.sqrt(3)
    assert np.abs(scores).max() < 4
    exact, last = softmax(Q, K, V, 3**-0.5), None
    for degree in range(2, 22, 2):
        error = np.abs(kernels.exponential_series(scores, degree) - np.exp(scores))
        assert last is None or np.all((error < last) | (error < 50 * 2.0**-53 * np.exp(np.abs(scores))))
        share = (error / np.exp(scores)).max()
        if share < 1:
            off = np.abs(causal(feature_map("taylor"), Q, K, V, degree=degree) - exact).max()
            assert off <= 2 * share / (1 - share) * np.abs(V).max()
        last = error
    assert share < 4**21 / math.factorial(21) * math.exp(4)  # the term that follows, over the smallest weight


def test_gaussian_series_approach_the_gaussian_kernel():
    exact = kernels.kernel_attention(Q, K, V, lambda q, k: kernels.gaussian(q, k, 2.0))
    errors = [
        np.abs(causal(feature_map("gaussian_taylor"), Q, K, V, sigma=2.0, degree=degree) - exact).max()
        for degree in (0, 2, 4, 6, 8)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-5


def test_the_gaussian_kernel_is_the_exponential_between_two_prefactors():
    exact, _ = ball.certify(lambda x: {"kernel": kernels.gaussian(x["q"], x["k"], 1.5)}, POINTS)
    h = feature_map("rbf_scalar").apply
    parts, _ = ball.certify(
        lambda x: {"kernel": h(x["q"], 1.5) * kernels.exponential(x["q"] / 1.5, x["k"] / 1.5) * h(x["k"], 1.5)},
        POINTS,
    )
    assert exact["kernel"].tobytes() == parts["kernel"].tobytes()


def test_attention_with_the_gaussian_kernel_is_softmax_with_a_bias_on_the_keys():
    sigma = 1.25
    got = kernels.kernel_attention(Q, K, V, lambda q, k: kernels.gaussian(q, k, sigma))
    biased_k = np.concatenate([K / sigma, -kernels.half_square(K, sigma)], axis=-1)
    biased_q = np.concatenate([Q / sigma, np.ones((7, 1))], axis=-1)
    assert close(got, softmax(biased_q, biased_k, V, 1.0))
    unit = K / np.linalg.norm(K, axis=-1, keepdims=True)
    same_length = kernels.kernel_attention(Q, unit, V, lambda q, k: kernels.gaussian(q, k, sigma))
    assert close(same_length, softmax(Q, unit, V, sigma**-2))


def test_kernel_attention_with_a_feature_map_is_linear_attention():
    for phi in (feature_map("elu+1"), feature_map("exp")):
        got = kernels.kernel_attention(Q, K, V, lambda q, k, phi=phi: dot(phi(q), phi(k)))
        assert close(got, causal(phi, Q, K, V))


def test_with_the_scalar_reading_no_query_matters():
    """rbf_scalar: the output is a running mean of the values with weights of the keys alone."""
    phi = feature_map("rbf_scalar")
    got = causal(phi, Q, K, V, sigma=1.5)
    assert close(got, causal(phi, -7 * Q[::-1], K, V, sigma=1.5))
    weights = np.exp(-(K**2).sum(axis=-1, keepdims=True) / 4.5)
    assert close(got, np.cumsum(weights * V, axis=0) / np.cumsum(weights, axis=0))
    other = causal(feature_map("rbf_centres"), -7 * Q[::-1], K, V, centres=K[:4], sigma=1.5)
    assert not np.isclose(other, causal(feature_map("rbf_centres"), Q, K, V, centres=K[:4], sigma=1.5)).all()


def test_what_a_normaliser_of_0_does():
    """All weights 0: NaN without eps, 0 with it. Weights that cancel: infinite."""
    attention = variant("normalised_linear_attention")

    def output(q, k, v, eps):
        inputs = {name: np.array(x, dtype=float) for name, x in (("q", q), ("k", k), ("v", v), ("eps", eps))}
        with np.errstate(all="ignore"):
            return forms.recurrent(attention, (np.zeros((1, 1)), np.zeros(1)), inputs)[1][-1, 0]

    assert np.isnan(output([[1]], [[0]], [[5]], 0))
    assert output([[1]], [[0]], [[5]], 1e-6) == 0
    assert output([[1], [1]], [[1], [-1]], [[5], [3]], 0) == np.inf
    assert np.isnan(output([[1], [1]], [[1], [-1]], [[5], [5]], 0))


def test_what_a_negative_normaliser_does():
    """The weights still sum to 1, but the output leaves the hull of the values; at T = 1 it is v."""
    attention = variant("normalised_linear_attention")
    inputs = {"q": np.ones((2, 1)), "k": np.array([[-2.0], [1.0]]), "v": np.array([[5.0], [3.0]]), "eps": np.zeros(())}
    output = forms.recurrent(attention, (np.zeros((1, 1)), np.zeros(1)), inputs)[1]
    assert np.array_equal(output[:, 0], [5, (-2 * 5 + 1 * 3) / -1])
    constant = forms.recurrent(attention, (np.zeros((1, 1)), np.zeros(1)), inputs | {"v": np.full((2, 1), 5.0)})[1]
    assert np.array_equal(constant[:, 0], [5, 5])


def test_sin_cos_reaches_both():
    """One channel at distance 0 and pi: the second token finds cos(0) + cos(pi) = 0, further away a negative sum."""
    phi = feature_map("sin_cos")
    x = np.array([[0.0], [np.pi], [np.pi - 1.0]])
    sums = np.tril(phi(x) @ phi(x).T).sum(axis=-1)
    assert abs(sums[1]) < 1e-15
    assert phi(x)[0] @ phi(x)[2] < 0
