"""Each discretisation is what its name says: exact, of its order, stable, and a limit of another."""

import numpy as np
import pytest
from drawing import close
from textbook import all_derivatives, all_digits

from linattn.discretise import bilinear, euler, euler_for_input, phi, trapezoid, zero_order_hold

A = np.array([-0.25, -1, -3])
ORDERS = {"zero_order_hold": (zero_order_hold, None), "euler_for_input": (euler_for_input, 1), "euler": (euler, 1)}
ORDERS["bilinear"] = (bilinear, 2)


def test_phi_has_every_digit():
    z = np.array([-800, -40, -1, -0.5, -(2.0**-30), -1e-300, 1e-300, 2.0**-40, 0.25, 700])
    assert all_digits(phi, lambda z: (np.exp(z) - 1) / z, {"z": z})
    assert phi(np.zeros(1)) == 1


def test_the_slope_of_phi():
    assert all_derivatives(phi, lambda z: (np.exp(z) - 1) / z, {"z": np.array([-4, -0.5, 0.25])})


@pytest.mark.parametrize("small", [0.0, 1e-300])
def test_the_slope_of_phi_at_0(small):
    """1/2, by the tape and by the complex step."""
    half = all_derivatives(phi, lambda z: 1 + z / 2, {"z": np.array([small])})
    assert half


def constant_input(rule, steps):
    """h(1) for h' = A h + 1 from h = 2."""
    decay, weight = rule(A, np.float64(1 / steps))
    h = 2 * np.ones_like(A)
    for _ in range(steps):
        h = decay * h + weight
    return h


@pytest.mark.parametrize("name", ORDERS)
def test_the_order(name):
    """Half the step leaves 2^-order of the error; zero-order hold is exact for a constant input."""
    rule, order = ORDERS[name]
    exact = 2 * np.exp(A) + np.expm1(A) / A
    if order is None:
        assert close(constant_input(rule, 64), exact)
        return
    coarse, fine = (np.abs(constant_input(rule, steps) - exact) for steps in (512, 1024))
    assert np.all(np.abs(np.log2(coarse / fine) - order) < 0.01)  # the next term: |A| / 512, some thousandths


def test_the_trapezoid_is_of_order_2_and_becomes_euler():
    """x = t: the mean of both ends is exact to second order, one end to first."""
    exact = (np.expm1(A) - A) / (A * A)

    def error(steps, share):
        decay, before, now = trapezoid(A, np.float64(1 / steps), share)
        h = np.zeros_like(A)
        for t in range(1, steps + 1):
            h = decay * h + before * (t - 1) / steps + now * t / steps
        return np.abs(h - exact)

    for share, order in ((0.5, 2), (1, 1)):
        assert np.all(np.abs(np.log2(error(512, share) / error(1024, share)) - order) < 0.01)
    decay, before, now = trapezoid(A, np.float64(0.25), 1)
    assert np.array_equal(decay, euler_for_input(A, np.float64(0.25))[0])
    assert now == 0.25
    assert not before.any()


def test_a_step_of_no_size_and_a_system_that_keeps():
    for rule in (zero_order_hold, euler_for_input, euler, bilinear):
        decay, weight = rule(A, np.zeros(1))
        assert np.array_equal((decay, 0 * A + weight), (np.ones(3), np.zeros(3)))
        decay, weight = rule(np.zeros(1), np.array([0.75]))
        assert (decay, weight) == (1, 0.75)


def test_only_euler_leaves_the_unit_circle():
    """At dt A = -3 the Euler decay is -2; the bilinear one is -1/5: negative, but stable."""
    assert euler(np.array(-3.0), 1.0)[0] == -2
    assert bilinear(np.array(-3.0), 1.0)[0] == -0.2
    assert 0 < zero_order_hold(np.array(-3.0), 1.0)[0] < 1


def test_complex_systems():
    """Bilinear keeps the imaginary axis on the unit circle; zero-order hold is the exact solution."""
    turning = np.array([1j, -2.5j])
    assert close(np.abs(bilinear(turning, 0.5)[0]), np.ones(2), 10)
    decay, weight = zero_order_hold(turning - 0.5, 0.5)
    assert np.allclose(weight, (decay - 1) / (turning - 0.5), rtol=1e-14)
