"""Linear attention with feature maps is attention with their kernels: in the limit, or exactly."""

import math

import numpy as np
from drawing import close

from linattn import feature_map, forms, variant
from linattn.algebra import dot
from linattn.features import kernels
from linattn.numbers import ball

POINTS = {name: np.random.default_rng(n).normal(size=(4, 3)) for n, name in enumerate("qk")}


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
