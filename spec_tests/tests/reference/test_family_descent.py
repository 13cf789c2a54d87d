"""Memories that descend a gradient: Titans with momentum, TTT by mini-batches. Constraints of their records."""

import numpy as np
import pytest
from drawing import close, equal
from memories import (
    REGRESSION,
    empty,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    log_of_zero,  # noqa: F401
)

from linattn import forms
from linattn.numbers import field
from linattn.variants import comba

TITANS, TTT = REGRESSION[-2:]


def test_log_zero_is_no_reset_of_titans():
    """titans_linear C5."""
    state, x = in_field(TITANS)
    x["log_decay"][3] = field.Log(None)
    _, output = forms.parallel(TITANS, state, x)
    _, fresh = forms.recurrent(TITANS, tuple(0 * a for a in state), forms.take(TITANS, x, slice(3, None)))
    assert not np.array_equal(output[3:], fresh)


def test_titans_without_momentum_is_a_gated_delta_rule_that_erases_the_undecayed():
    """titans_linear C2: Comba with p = k."""
    (S, R), x = in_field(TITANS)
    x["log_momentum"][:] = field.Log(None)
    (final, _), output = forms.parallel(TITANS, (S, R), x)
    inputs = {"q": x["q"], "k": x["k"], "p": x["k"], "v": x["v"], "beta": x["theta"], "log_decay": x["log_decay"]}
    same = forms.recurrent(comba.VARIANT, (S,), inputs | {"scale": field.Number(1)})
    assert equal(((final,), output), same)


def test_titans_is_gradient_descent_with_momentum():
    """titans_linear: by the recurrence of equations (13), (14) on the gradient of half the squared error."""
    (S, R), x = inside(TITANS)
    M, momentum = S, R
    (final, _), output = forms.parallel(TITANS, (S, R), x)
    for t, got in enumerate(output):
        gradient = np.outer(x["k"][t], x["k"][t] @ M - x["v"][t])
        momentum = np.exp(x["log_momentum"][t]) * momentum - x["theta"][t] * gradient
        M = np.exp(x["log_decay"][t]) * M + momentum
        assert close(got, x["q"][t] @ M)
    assert close(final, M)


def test_titans_without_learning_still_moves():
    """titans_linear C4."""
    (S, R), x = in_field(TITANS, T=1)
    x["theta"] = 0 * x["theta"]
    (final, left), _ = forms.parallel(TITANS, (S, R), x)
    assert np.array_equal(left, np.exp(x["log_momentum"][0]) * R)
    assert np.array_equal(final, np.exp(x["log_decay"][0]) * S + left)


def half_squared_error(y, target, gamma, beta, eps):
    normal = (y - y.mean()) / np.sqrt(((y - y.mean()) ** 2).mean() + eps)
    return ((gamma * normal + beta - target) ** 2).sum() / 2


def slope(y, *others):
    """By steps in the complex plane."""
    return np.array([half_squared_error(y + 1e-200j * row, *others).imag for row in np.eye(y.size)]) / 1e-200


@pytest.mark.parametrize("sizes", [(7,), (1,) * 7, (3, 2, 2), (4, 3)])
def test_ttt_is_gradient_descent_by_mini_batches(sizes):
    """ttt_linear C1, ttt_linear C3: the dual form, with gradients of the loss by the complex step."""
    (W, b, G, h, last), x = inside(TTT)
    firsts = np.cumsum((0, *sizes[:-1]))
    x["start"] = np.isin(np.arange(7), firsts).astype(float)[:, None]
    _, output = forms.recurrent(TTT, (W, b, G, h, last), x)
    W, b = W - last * G, b - last * h
    for first, size in zip(firsts, sizes, strict=True):
        q, k, v, eta, rho = (x[name][first : first + size] for name in ("q", "k", "v", "eta", "rho"))
        u = eta * [slope(y, target, x["gamma"], x["beta"], x["eps"]) for y, target in zip(k @ W + b, v, strict=True)]
        assert close(output[first : first + size], q @ W + b - rho * (np.tril(q @ k.T + 1) @ u))
        W, b = W - rho[-1] * k.T @ u, b - rho[-1] * u.sum(axis=0)


def test_ttt_may_start_anywhere_from_the_empty_state():
    """ttt_linear C1."""
    state, x = inside(TTT)
    first = {value: x["start"] * (np.arange(7) > 0)[:, None] + value * (np.arange(7) == 0)[:, None] for value in (0, 1)}
    runs = [forms.recurrent(TTT, empty(TTT, state), x | {"start": start}) for start in first.values()]
    assert equal(*runs)


@pytest.mark.parametrize("name", ["eta", "gamma"])
def test_ttt_without_a_gradient_is_linear(name):
    """ttt_linear C2, ttt_linear C4."""
    state, x = inside(TTT)
    x |= {name: 0 * x[name]}
    W, b, *_ = state
    output = forms.recurrent(TTT, (W, b, *(0 * a for a in state[2:])), x)[1]
    assert close(output, x["q"] @ W + b)


def test_a_constant_in_all_value_channels_has_no_gradient():
    """ttt_linear C5."""
    state, x = inside(TTT)
    W, b, *rest = state
    (*_, G, h, _), _ = forms.recurrent(TTT, state, x)
    (*_, same, also, _), _ = forms.recurrent(TTT, (W, b + 3, *rest), x)
    assert np.allclose(same, G, rtol=1e-11, atol=1e-11)
    assert np.allclose(also, h, rtol=1e-11, atol=1e-11)
