"""Every feature map has the properties that its record declares."""

import numpy as np
import pytest

from linattn import FEATURE_MAPS, feature_map
from linattn.algebra import dot, maximum
from linattn.features import elu_plus_one
from linattn.numbers import ball, complex_step, field, tape

EACH_MAP = pytest.mark.parametrize("phi", FEATURE_MAPS, ids=lambda phi: phi.name)
X = np.concatenate([np.linspace(-5, 5, 21), [-700, -1e-300, 1e-300, 0.0, 300]])[:, None] * [1.0, 0.5, -1.0]
KERNELS = {
    "sum_d max(q_d, 0) max(k_d, 0)": lambda q, k: (maximum(q, 0 * q) * maximum(k, 0 * k)).sum(axis=-1, keepdims=True),
    "sum_d exp(q_d + k_d)": lambda q, k: np.exp(q + k).sum(axis=-1, keepdims=True),
    "sum_d cos(q_d - k_d)": lambda q, k: np.cos(q - k).sum(axis=-1, keepdims=True),
}


@pytest.mark.parametrize("phi", [phi for phi in FEATURE_MAPS if phi.kernel], ids=lambda phi: phi.name)
def test_the_kernel_in_closed_form(phi):
    """phi(q).phi(k) and the formula certify to the same bytes."""
    rng = np.random.default_rng(0)
    points = {name: rng.normal(size=(4, 3)) for name in "qk"}
    feature, _ = ball.certify(lambda x: {"kernel": dot(phi(x["q"]), phi(x["k"]))}, points)
    closed, _ = ball.certify(lambda x: {"kernel": KERNELS[phi.kernel](x["q"], x["k"])}, points)
    assert feature["kernel"].tobytes() == closed["kernel"].tobytes()


@EACH_MAP
def test_the_sign_is_the_declared_one(phi):
    values = phi(X)
    holds = {"positive": (values > 0).all(), "non-negative": (values >= 0).all(), "signed": (values < 0).any()}
    assert holds[phi.sign]
    assert phi.sign != "non-negative" or (values == 0).any()


@EACH_MAP
def test_the_last_axis_grows_by_the_width(phi):
    for leading in ((), (2,), (2, 3)):
        assert phi(np.ones((*leading, 5))).shape == (*leading, 5 * phi.width)


@EACH_MAP
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_stays(phi, dtype):
    assert phi(np.array([-1, 0.5], dtype=dtype)).dtype == dtype


def ulps(got, exact):
    return np.abs(got.astype(float) - exact) / np.spacing(np.abs(exact).astype(got.dtype)).astype(float)


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
    assert (ulps(got, exact["y"]) <= 1).all()


def test_elu_plus_one_does_not_overflow_where_its_exponential_is_not_used():
    """Warnings are errors here."""
    assert elu_plus_one(np.array([1000.0])) == 1001


def test_relu_can_be_0_in_all_features():
    assert not feature_map("relu")(np.array([-1.0, -2.0, 0.0])).any()


def test_the_exponential_over_the_field():
    q, k = (field.Log(n) for n in (3, 4))
    assert np.exp(np.array([q])) @ np.exp(np.array([k])) == (q + k).exp()


@pytest.mark.parametrize("name", ["relu", "exp", "sin_cos"])
def test_the_derivative_by_the_tape_is_that_of_the_complex_step(name):
    x = {"x": np.array([[-1.5, 0.25, 2.0]])}

    def compute(z):
        return {"y": feature_map(name)(z["x"])}

    cotangents = {"y": np.ones((1, 3 * feature_map(name).width))}
    got = tape.gradients(compute, x, cotangents)["x"].astype(float)
    # One function of the library each, which both call: a few units in the last place.
    assert np.allclose(got, complex_step.gradient(compute, x, cotangents, "x"), rtol=1e-15, atol=0)


def test_an_unknown_name_is_answered_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"^feature map must be one of relu, elu\+1, exp, sin_cos; got 'gelu'$"):
        feature_map("gelu")
