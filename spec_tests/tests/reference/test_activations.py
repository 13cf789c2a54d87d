"""The functions of gates have every digit, however far out."""

import numpy as np
import pytest
from textbook import FAR, all_derivatives, all_digits

from linattn.activations import ACTIVATIONS, activation, log_add_exp, logsigmoid, sigmoid, silu, softplus

FORMULAS = {
    sigmoid: lambda x: 1 / (1 + np.exp(-x)),
    softplus: lambda x: np.log(1 + np.exp(x)),
    logsigmoid: lambda x: np.log(1 / (1 + np.exp(-x))),
    silu: lambda x: x / (1 + np.exp(-x)),
}
EACH_FUNCTION = pytest.mark.parametrize("function", FORMULAS, ids=lambda function: function.__name__)


@EACH_FUNCTION
def test_every_digit(function):
    """Warnings are errors here: nothing overflows."""
    assert all_digits(function, FORMULAS[function], {"x": FAR})


@EACH_FUNCTION
def test_every_derivative(function):
    assert all_derivatives(function, FORMULAS[function], {"x": np.array([-3, -0.5, 0.25, 0, 4])})


@EACH_FUNCTION
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_dtype_stays(function, dtype):
    x = np.array([-100, 0.5], dtype=dtype)
    assert function(x).dtype == dtype
    assert np.isfinite(function(x)).all()


def test_the_textbook_has_no_digits_out_there():
    """What the functions are for: 1 + exp(-40) is 1."""
    naive = np.log(1 / (1 + np.exp(np.array([-40.0]))))
    assert naive == 0
    assert logsigmoid(np.array([40.0])) == -np.exp(-40.0)


def test_log_add_exp():
    x, y = FAR, np.roll(FAR, 7)
    assert all_digits(log_add_exp, lambda x, y: np.log(np.exp(x) + np.exp(y)), {"x": x, "y": y})
    assert log_add_exp(np.array([2.0]), np.array([-np.inf])) == 2


def test_activations_by_name():
    assert [activation(name)(np.array([0.0]))[0] for name in ACTIVATIONS] == [0, 0, 0.5]
    with pytest.raises(ValueError, match=r"^activation must be one of None, 'silu', 'sigmoid'; got 'gelu'$"):
        activation("gelu")
