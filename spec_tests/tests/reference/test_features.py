"""Every feature map has the properties that its record declares."""

import numpy as np
import pytest
from feature_maps import EACH_MAP, each, given
from textbook import ulps

from linattn import FEATURE_MAPS, feature_map, features
from linattn.algebra import dot
from linattn.features import elu_plus_one
from linattn.numbers import ball, complex_step, field, tape

LINES = np.concatenate([np.linspace(-5, -0.5, 10), np.linspace(0.5, 5, 10), [-300, 300]])[:, None] * [1.0, 0.5, -1.0]
X = np.concatenate([LINES, np.random.default_rng(7).normal(size=(20, 3))])


@EACH_MAP
def test_the_sign_of_the_weights_is_the_declared_one(phi):
    """Far out a positive weight may be smaller than any float."""
    x = X[np.abs(X).max(axis=-1) < 6] if phi.sign == "positive" else X
    mapped = phi(x, **given(phi, sigma=0.5))
    weights = mapped @ mapped.T
    holds = {"positive": (weights > 0).all(), "non-negative": (weights >= 0).all(), "signed": (weights < 0).any()}
    assert holds[phi.sign]


VANISHING = ("relu", "dpfp", "rebased", "rebased_elementwise", "symmetric_power", "one_sin_cos")


@each([feature_map(name) for name in VANISHING])
def test_weights_that_are_only_non_negative_can_vanish(phi):
    """Orthogonal vectors, opposite halves, cosines at pi: 0, or what rounding leaves of it."""
    zeros = {
        "relu": ([1.0, 0, 0], [0, 1.0, 0]),
        "dpfp": ([1.0, 2, 3], [-1.0, -2, -3]),
        "rebased": ([1.0, 0, -1], [1.0, -2, 1]),
        "rebased_elementwise": ([1.0, -1, 0, 0], [0.0, 0, 1, -1]),
        "symmetric_power": ([1.0, 2, 0], [2.0, -1, 0]),
        "one_sin_cos": ([0.0, 0, 0], [np.pi] * 3),
    }
    plain = {"gamma": 1.0, "beta": 0.0}
    q, k = (phi(np.array(x), **given(phi, **plain)) for x in zeros[phi.name])
    assert abs(q @ k) < 1e-14


@each([feature_map(name) for name in ("taylor", "gaussian_taylor", "symmetric_power")])
def test_the_sign_is_lost_at_odd_degrees(phi):
    q, k = (phi(np.array([x, 0, 0]), **given(phi, degree=3)) for x in (3.0, -3.0))
    assert q @ k < 0


@EACH_MAP
@pytest.mark.parametrize("leading", [(4,), (2, 4), (2, 3, 4)])
def test_the_width_is_the_declared_one(phi, leading):
    parameters = given(phi)
    assert phi(np.ones((*leading, 3)), **parameters).shape == (*leading, phi.width(3, **parameters))


@pytest.mark.parametrize(("K", "degree", "width"), [(5, 0, 1), (5, 1, 6), (5, 2, 21), (16, 2, 153), (3, 4, 35)])
def test_the_width_of_a_series(K, degree, width):
    """1 + K + K (K + 1) / 2 at degree 2."""
    taylor = feature_map("taylor")
    assert taylor.width(K, degree=degree) == width == taylor(np.ones((1, K)), degree=degree).shape[-1]


@EACH_MAP
def test_a_causal_map_looks_at_one_token(phi):
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    changed = np.concatenate([x[:, :-1], x[:, -1:] + 1], axis=1)
    before, after = (phi(z, **given(phi))[:, :-1] for z in (x, changed))
    assert np.array_equal(before, after) == phi.causal


@EACH_MAP
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_stays(phi, dtype):
    parameters = {name: x.astype(dtype) if isinstance(x, np.ndarray) else x for name, x in given(phi).items()}
    assert phi(np.array([[-1, 0.5, 2]], dtype=dtype), **parameters).dtype == dtype


@EACH_MAP
def test_on_balls_it_is_the_same_map(phi):
    """Up to some hundred roundings of numbers that are not small against each other."""
    x = np.random.default_rng(0).normal(size=(4, 3))
    exact, _ = ball.certify(lambda z: {"y": phi(z["x"], **given(phi))}, {"x": x})
    assert np.allclose(phi(x, **given(phi)), exact["y"], rtol=100 * 2.0**-53, atol=100 * 2.0**-53)


@EACH_MAP
def test_the_derivative_by_the_tape_is_that_of_the_complex_step(phi):
    x = {"x": np.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 1.0]])}

    def compute(z):
        return {"y": phi(z["x"], **given(phi))}

    cotangents = {"y": np.cos(np.arange(compute(x)["y"].size)).reshape(compute(x)["y"].shape)}
    got = tape.gradients(compute, x, cotangents)["x"].astype(float)
    want = complex_step.gradient(compute, x, cotangents, "x")
    # Sums of some dozen terms of the size of the largest derivative.
    assert np.allclose(got, want, rtol=0, atol=100 * 2.0**-53 * np.abs(want).max() * np.sqrt(got.size))


@pytest.mark.parametrize(
    ("dtype", "points"),
    [(np.float64, [-745.0, -40.0, -1e-3, 0.0, 1e-3, 40.0]), (np.float32, [-103.0, -40.0, -1e-3, 0.0, 1e-3, 40.0])],
)
def test_elu_plus_one_is_exact_to_an_ulp(dtype, points):
    """elu(x) + 1 as it is written would be 0 at -40. The smallest points give the smallest subnormals."""
    x = np.array(points, dtype=dtype)
    exact, _ = ball.certify(lambda balls: {"y": elu_plus_one(balls["x"])}, {"x": x.astype(float)})
    got = elu_plus_one(x)
    assert (got > 0).all()
    assert (ulps(got.astype(float), exact["y"]) * np.spacing(exact["y"]) <= np.spacing(exact["y"].astype(dtype))).all()


def test_elu_plus_one_does_not_overflow_where_its_exponential_is_not_used():
    """Warnings are errors here."""
    assert elu_plus_one(np.array([1000.0])) == 1001


def test_relu_can_be_0_in_all_features():
    assert not feature_map("relu")(np.array([-1.0, -2.0, 0.0])).any()


def test_the_exponential_over_the_field():
    q, k = (field.Log(n) for n in (3, 4))
    assert np.exp(np.array([q])) @ np.exp(np.array([k])) == (q + k).exp()


def test_dpfp_by_hand():
    """x = (1, -2): r = (1, 0, 0, 2) on a circle, where 1 and 2 are neighbours; mirrored it is (1, 0, -1, 0)."""
    x = np.array([1.0, -2.0])
    assert np.array_equal(feature_map("dpfp")(x, nu=3), [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2])
    assert np.array_equal(feature_map("dpfp_mirrored")(x, nu=2), [0, 0, 0, 0, -1, 0, -1, 0])


def test_what_is_mirrored_is_blind():
    """Two vectors that differ in a negative channel alone."""
    x, y = np.array([1.0, -2, 3]), np.array([1.0, -5, 3])
    assert np.array_equal(*(feature_map("dpfp_mirrored")(z, nu=2) for z in (x, y)))
    assert not np.array_equal(*(feature_map("dpfp")(z, nu=2) for z in (x, y)))


def test_the_readings_of_hedgehog_by_hand():
    """x = (0, log 2): exponentials 1, 2 and 1, 1/2, and their squares where x is doubled."""
    x = np.array([0.0, np.log(2)])
    joint, split, exp = (feature_map(f"hedgehog_{name}")(x) for name in ("joint", "split", "exp"))
    assert np.allclose(joint, np.array([1, 4, 1, 0.25]) / 6.25, rtol=1e-15)
    assert np.allclose(split, [1 / 3, 2 / 3, 2 / 3, 1 / 3], rtol=1e-15)
    assert np.allclose(exp, [1, 2, 1, 0.5], rtol=1e-15)


def test_the_features_of_one_token_sum_to_one_or_two():
    x = np.random.default_rng(0).normal(size=(6, 3)) * 300
    assert np.allclose(feature_map("hedgehog_joint")(x).sum(axis=-1), 1, rtol=1e-14)
    assert np.allclose(feature_map("hedgehog_split")(x).sum(axis=-1), 2, rtol=1e-14)
    assert np.allclose(feature_map("softmax_over_tokens")(x).sum(axis=-2), 1, rtol=1e-14)


def test_positive_random_features_do_not_overflow():
    """W x - |x|^2 / 2 is at most |W|^2 / 2, at x = W."""
    W = np.random.default_rng(0).normal(size=(4, 3))
    far = feature_map("positive_random")(1000 * W, W=W)
    assert np.isfinite(far).all()
    largest = np.exp((W * W).sum(axis=-1) / 2) / 2
    assert np.all(feature_map("positive_random")(X, W=W) < largest)
    assert np.allclose(np.diag(feature_map("positive_random")(W, W=W)), largest, rtol=1e-14)


def test_a_projection_may_be_given_for_every_head():
    """W (H, M, K) for x (B, H, T, K)."""
    rng = np.random.default_rng(0)
    x, W = rng.normal(size=(2, 4, 5, 3)), rng.normal(size=(4, 1, 6, 3))
    for name in ("positive_random", "hyperbolic_random"):
        mapped = feature_map(name)(x, W=W)
        one = feature_map(name)(x[:, 1], W=W[1, 0])
        assert np.allclose(mapped[:, 1], one, rtol=1e-14)
        assert dot(mapped, mapped).shape == (2, 4, 5, 1)


def test_an_unknown_name_is_answered_with_the_names_there_are():
    names = ", ".join(phi.name for phi in FEATURE_MAPS)
    with pytest.raises(ValueError, match=r"^feature map must be one of ") as raised:
        feature_map("gelu")
    assert str(raised.value) == f"feature map must be one of {names}; got 'gelu'"


@pytest.mark.parametrize("parameters", [{}, {"degree": 2, "sigma": 1}])
def test_parameters_are_checked_by_name(parameters):
    with pytest.raises(ValueError, match=r"^parameters of taylor must be degree; got (none|degree, sigma)$"):
        feature_map("taylor")(X, **parameters)
    with pytest.raises(ValueError, match=r"^parameters of relu must be none; got degree$"):
        feature_map("relu")(X, degree=2)


def test_names_are_unique():
    assert len({phi.name for phi in FEATURE_MAPS}) == len(FEATURE_MAPS)
    assert {"relu", "elu+1", "exp", "sin_cos"} <= {phi.name for phi in features.FEATURE_MAPS}
