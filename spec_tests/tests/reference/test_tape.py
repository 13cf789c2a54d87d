"""The tape: the derivative of every operation, and how they are collected."""

import re

import numpy as np
import pytest
from drawing import close
from hypothesis import given
from hypothesis import strategies as st

from linattn.algebra import largest, maximum
from linattn.numbers import complex_step, lift, tape
from linattn.numbers.ball import Ball, Undecided

OPERATIONS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "-x": lambda x, y: -x,
    "constants": lambda x, y: (3 - x) * 2 + 1 / y + 5 / (2 * y) + y / 4 + (x + 1) * 3.0,
    "exp": lambda x, y: np.exp(x * y),
    "log": lambda x, y: np.log(x + 2 * y),
    "sin": lambda x, y: np.sin(x * y),
    "cos": lambda x, y: np.cos(x + y),
    "used twice": lambda x, y: x * x * y + x,
    "matmul": lambda x, y: x[None, :] @ y[:, None],
    "plain array": lambda x, y: np.arange(3.0) * x + (x - np.arange(3.0)) / y + np.arange(1.0, 4.0) / x,
    "maximum": lambda x, y: maximum(x, y) * x,
    "largest": lambda x, y: largest(x * y),
    "expm1": lambda x, y: np.expm1(x - y),
    "log1p": lambda x, y: np.log1p(x * y),
    "sqrt": lambda x, y: np.sqrt(x / y),
    "tanh": lambda x, y: np.tanh(x - y),
    "broadcast": lambda x, y: x[:, None] * y + x[0] - y[1:2] / x[:, None, None],
    "batches of matrices": lambda x, y: (x[:, None] * y)[None] @ np.stack([np.swapaxes(y[:, None] * x, 0, 1)] * 2),
    "einsum": lambda x, y: np.einsum("...k,...v->...kv", x[:2, None] * y, y),
    "einsum of three": lambda x, y: np.einsum(
        "td,sd,tsd->ts", x[:, None] * y, y[:, None], x[:, None, None] + y[:, None]
    ),
    "concatenate": lambda x, y: np.concatenate([x[1:] * y[1:], x, np.arange(2.0)], axis=-1) * 3,
    "stack": lambda x, y: np.stack([x * y, y], axis=-2)[0] * x,
    "where": lambda x, y: np.where(np.arange(3) > 0, x, y * y) + np.where(np.eye(3) > 0, x, 0.0) * y,
    "triangles": lambda x, y: np.tril(x[:, None] * y, -1) + np.triu(x[:, None] / y),
    "sums": lambda x, y: (x[:, None] * y).sum(axis=-1, keepdims=True) + (x[:, None] / y).sum(axis=0) + (x * y).sum(),
    "repeat": lambda x, y: np.repeat(x[:, None], 3, axis=-1) * y,
    "reshape": lambda x, y: (x[:, None] * y).reshape(9) * np.broadcast_to(x[:1], (9,)),
    "pieces of pieces": lambda x, y: x[1:][:1] * y[0] + x[..., 2] * y[::-1] * x[None][0, :1],
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
@given(st.lists(st.floats(0.5, 2), min_size=6, max_size=6, unique=True))
def test_every_derivative_is_that_of_the_complex_step(operation, values):
    numbers = {"x": np.array(values[:3]), "y": np.array(values[3:])}

    def compute(z):
        return {"f": operation(z["x"], z["y"])}

    cotangents = {"f": np.ones(np.shape(compute(numbers)["f"])) / 3}
    for name, got in tape.gradients(compute, numbers, cotangents).items():
        want = complex_step.gradient(compute, numbers, cotangents, name)
        assert close(got.astype(float), want, operations=40), name


def test_several_outputs_are_summed_and_an_unused_input_has_gradient_0():
    def compute(z):
        return {"f": 2 * z["x"], "g": z["x"] * z["x"]}

    gradients = tape.gradients(compute, {"x": np.array([3.0]), "y": np.array([1.0])}, {"f": [5.0], "g": [7.0]})
    assert gradients["x"] == [5 * 2 + 7 * 6]
    assert gradients["y"] == [0]


def test_a_number_that_is_two_outputs_has_both_cotangents():
    gradients = tape.gradients(lambda z: {"f": z["x"], "g": z["x"]}, {"x": np.array([3.0])}, {"f": [5.0], "g": [7.0]})
    assert gradients["x"] == [12]


def test_an_output_that_is_a_constant_has_gradient_0():
    assert tape.gradients(lambda z: {"f": np.array([1.0])}, {"x": np.array([3.0])}, {"f": [1.0]})["x"] == [0]


def test_the_cotangents_must_fit_the_output():
    with pytest.raises(ValueError, match=r"^cotangent f must have shape \(2,\); got \(1,\)$"):
        tape.gradients(lambda z: {"f": z["x"]}, {"x": np.array([3.0, 4.0])}, {"f": [1.0]})


def test_a_tie_of_floats_takes_the_first():
    gradients = tape.gradients(
        lambda z: {"f": maximum(z["x"], z["y"])}, dict.fromkeys("xy", np.array([1.0])), {"f": [1.0]}
    )
    assert (gradients["x"], gradients["y"]) == ([1], [0])


def test_a_tie_of_balls_has_no_derivative():
    tie = lift(Ball, {"x": np.array([1.0]), "y": np.array([1.0])})
    tie["y"] = tie["y"] / 3 * 3
    with pytest.raises(Undecided):
        tape.gradients(lambda z: {"f": maximum(z["x"], z["y"])}, tie, {"f": [Ball(1)]})


def test_a_long_chain_does_not_exhaust_the_stack():
    def compute(z):
        x = z["x"]
        for _ in range(5000):
            x = x + 1
        return {"f": x}

    assert tape.gradients(compute, {"x": np.array([0.0])}, {"f": [1.0]})["x"] == [1]


def test_zeros_like_and_shapes_are_constants():
    x = tape.Traced(np.ones((2, 3)))
    assert (np.shape(x), np.ndim(x), x.dtype) == ((2, 3), 2, float)
    assert type(np.zeros_like(x)) is np.ndarray


@pytest.mark.parametrize(
    ("operation", "what"),
    [
        (np.sinh, "no derivative is known of sinh (__call__)"),
        (np.multiply.reduce, "no derivative is known of multiply (reduce)"),
        (np.flip, "no derivative is known of numpy.flip"),
        (np.asarray, "a traced array cannot become a plain one: its history would be lost"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_has_no_rule_is_refused(operation, what):
    """Never a gradient that misses a part."""
    with pytest.raises(TypeError, match=f"^{re.escape(what)}$"):
        operation(tape.Traced(np.ones(3)))
