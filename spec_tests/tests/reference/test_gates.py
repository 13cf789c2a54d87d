"""Every parametrisation of a gate has all digits of its formula, lies in its domain, and is what libraries call by
other names.
"""

import numpy as np
import pytest
from drawing import close
from textbook import FAR, all_derivatives, all_digits

from linattn import gates
from linattn.activations import logsigmoid, softplus
from linattn.numbers import ball


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


NO_UNDERFLOW = FAR[np.abs(FAR) < 700]  # a product has the digits of its factors, and subnormal ones have few
NEAR = np.array([-3, -0.75, -0.25, 0.5, 0, 2.5])
BOUNDS = np.array([0, 2.0**-60, 0.125, 0.5, 0.75, 1 - 2.0**-40])
FORMULAS = {  # the function, its formula in print, arguments, and others for the derivatives
    "sigmoid_gate": (lambda x, tau: np.log(sigmoid(x)) / tau, {"x": FAR, "tau": np.array([16.0])}, {}),
    "softplus_gate": (
        lambda x, A_log, dt_bias: -np.exp(A_log) * np.log(1 + np.exp(x + dt_bias)),
        {"x": FAR, "A_log": np.array([1.5]), "dt_bias": np.array([0.0])},
        {"dt_bias": np.array([-0.5])},
    ),
    "bounded_gate": (
        lambda x, A_log, dt_bias: -5 / (1 + np.exp(-np.exp(A_log) * (x + dt_bias))),
        {"x": FAR, "A_log": np.array([0.0]), "dt_bias": np.array([0.0])},
        {"A_log": np.array([0.75]), "dt_bias": np.array([-0.5])},
    ),
    "double_exponential": (lambda w: np.log(np.exp(-np.exp(w))), {"w": np.array([-800, -40, -1, 0, 3, 6.5])}, {}),
    "rwkv7_gate": (lambda w: -np.exp(0 * w - 0.5) / (1 + np.exp(-w)), {"w": FAR}, {}),
    "bounded_sigmoid_gate": (
        lambda x, bound: np.log(bound + (1 - bound) * sigmoid(x)),
        {"x": FAR[:, None], "bound": BOUNDS},
        {"bound": BOUNDS[1:]},
    ),
    "rg_lru_gate": (
        lambda x, Lambda: -8 * sigmoid(x) * np.log(1 + np.exp(Lambda)),
        {"x": NO_UNDERFLOW[:, None], "Lambda": np.array([-40, -1, 0, 5.0])},
        {"Lambda": np.array([-40, -1, 0, 5.0])},
    ),
    "input_normaliser": (
        lambda g: np.sqrt(1 - np.exp(g) * np.exp(g)),
        {"g": np.array([-800, -1, -(2.0**-40), -1e-300])},
        {"g": np.array([-4, -0.5, -(2.0**-20)])},
    ),
    "complement": (lambda g: 1 - np.exp(g), {"g": np.array([-800, -1, -(2.0**-40), -1e-300, 0])}, {}),
    "soft_cap": (lambda x: 15 * np.tanh(x / 15), {"x": FAR}, {}),
}
EACH_GATE = pytest.mark.parametrize("name", FORMULAS)


def positional(function):
    return lambda **numbers: function(*numbers.values())


@EACH_GATE
def test_every_digit(name):
    formula, numbers, _ = FORMULAS[name]
    assert all_digits(positional(getattr(gates, name)), positional(formula), numbers)


@EACH_GATE
def test_every_derivative(name):
    formula, numbers, others = FORMULAS[name]
    data = next(iter(numbers))
    near = numbers | {data: NEAR[:, None] if numbers[data].ndim > 1 else NEAR} | others
    assert all_derivatives(positional(getattr(gates, name)), positional(formula), near)


@EACH_GATE
def test_the_dtype_stays(name):
    _, numbers, _ = FORMULAS[name]
    single = [x.astype(np.float32) for x in numbers.values()]
    assert getattr(gates, name)(*single).dtype == np.float32


@pytest.mark.parametrize("name", [name for name in FORMULAS if name.endswith(("gate", "exponential"))])
def test_log_decays_are_below_0(name):
    """At finite arguments short of an underflow."""
    _, numbers, others = FORMULAS[name]
    data = next(iter(numbers))
    log_decay = getattr(gates, name)(*(numbers | {data: NEAR[:, None]} | others).values())
    assert (log_decay < 0).all()


def test_the_bounds_of_bounded_gates():
    x = np.linspace(-30, 30, 101)
    assert np.all((gates.bounded_gate(x, 0.5) >= -5) & (gates.bounded_gate(x, 0.5) < 0))
    assert np.all(np.exp(gates.bounded_sigmoid_gate(x, np.array(0.25))) >= 0.25 * (1 - 2.0**-50))
    assert np.all(np.exp(gates.rwkv7_gate(x)) > 0.545)


def test_a_bound_of_0_is_no_bound():
    assert close(gates.bounded_sigmoid_gate(FAR, np.zeros(())), logsigmoid(FAR), 10)
    assert gates.bounded_sigmoid_gate(np.array([-800.0]), np.zeros(())) == -800


def test_the_two_ways_to_write_the_decay_of_rwkv7():
    """exp(-exp(-softplus(-w) - 1/2)) as it is trained, exp(-exp(-1/2) sigmoid(w)) as it is run: one function."""
    w = {"w": np.array([-9, -0.5, 0, 2.25, 30])}
    trained, _ = ball.certify(lambda x: {"g": gates.double_exponential(-softplus(-x["w"]) - 0.5)}, w)
    run, _ = ball.certify(lambda x: {"g": gates.rwkv7_gate(x["w"])}, w)
    assert trained["g"].tobytes() == run["g"].tobytes()


def test_the_gate_of_griffin_as_a_power():
    """a = sigmoid(-Lambda)^(8 r): with a = sigmoid(Lambda) the sign of the parameter is the other one."""
    x, Lambda = np.meshgrid(NEAR, [-2.0, 0.5, 3.0])
    assert close(np.exp(gates.rg_lru_gate(x, Lambda)), sigmoid(-Lambda) ** (8 * sigmoid(x)))


def test_a_bounded_gate_is_not_a_clamp():
    """Half of the bound where the softplus gate has -log 2."""
    assert gates.bounded_gate(np.zeros(1), 0.0) == -2.5
    assert gates.softplus_gate(np.zeros(1), 0.0) == -np.log(2)


def test_the_bounds_of_the_layers():
    """Shares of 1/8, 2/8 and 5/8: 0, 2/8, 7/8. Any bounds rise from 0 and stay below 1."""
    assert np.allclose(gates.cumulative_bounds(np.log([[1.0], [2], [5]]))[:, 0], [0, 0.25, 0.875], rtol=1e-15)
    bounds = gates.cumulative_bounds(np.random.default_rng(0).normal(size=(6, 3)) + 900)
    assert not bounds[0].any()
    assert (np.diff(bounds, axis=0) > 0).all()
    assert (bounds < 1).all()


def test_what_is_written_and_what_is_kept_sum_to_one():
    g = np.array([-800, -3.0, -0.5, -(2.0**-40)])
    assert np.all(np.abs(gates.complement(g) + np.exp(g) - 1) <= 2.0**-52)
    assert np.all(np.abs(gates.input_normaliser(g) ** 2 + np.exp(g) ** 2 - 1) <= 2.0**-51)
