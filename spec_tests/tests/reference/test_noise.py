"""The five rules of random arithmetic."""

import numpy as np
import pytest
from drawing import irrational, spread

from linattn import algebra
from linattn.numbers.noise import (
    LIBRARY,
    Arithmetic,
    deviations,
    noisy,
    noisy_constant_log_decay,
    noisy_log_decay,
)

SAMPLES = 4096
SURE = 0.06  # five standard errors of a standard deviation from 4096 samples: 5 / sqrt(2 * 4096)
FP32 = Arithmetic(operand_bits=24, bits=24, samples=SAMPLES)
THIRD = 3.0**-0.5  # standard deviation of an error: the mean of two uniforms on [-1, 1), each times sqrt 1/2


def test_equal_numbers_err_equally_within_a_run():
    """A constant is rounded to the same value everywhere, and to another one in another run."""
    x = np.exp(noisy(np.full(50, 0.1), FP32))
    assert (x == x[:, :1]).all()
    assert len(np.unique(x)) == SAMPLES
    again = np.exp(noisy(np.full(50, 0.1), FP32))
    assert np.array_equal(x, again)


def test_another_seed_is_another_run():
    one, two = (noisy(irrational(3), Arithmetic(24, 24, seed=seed)) for seed in (0, 1))
    assert (one != two).all()


@pytest.mark.parametrize("value", [0.0, 1.0, -0.375, 3.0, 2.0**-100, -np.inf, np.inf, 1 + 2.0**-14])
def test_a_value_that_the_format_holds_is_exact(value):
    x = noisy(np.array([value]), FP32)
    assert (x == value).all()
    assert (-x == -value).all()
    assert (x * 1 == value).all()


def test_other_values_are_rounded_within_the_format():
    """|error| < sqrt 2 units, standard deviation sqrt 1/3 units, mean 0."""
    errors = (np.asarray(noisy(np.array([0.1, 7.7]), FP32)) / [0.1, 7.7] - 1) / FP32.unit
    assert np.abs(errors).max() < 2**0.5
    assert np.abs(errors.std(axis=0) / THIRD - 1).max() < SURE
    assert np.abs(errors.mean(axis=0)).max() < 5 * THIRD / SAMPLES**0.5


@pytest.mark.parametrize("function", [np.exp, np.sin, np.log])
def test_functions_of_the_library_err_twice_as_much(function):
    """Measured at a value that the format holds, so that the function alone errs."""
    x = noisy(np.array([1.25]), FP32)
    assert abs(spread(function(x))[0] / (LIBRARY * FP32.unit * THIRD * abs(function(1.25))) - 1) < SURE


@pytest.mark.parametrize("terms", [2, 10, 1000])
@pytest.mark.parametrize("add", [lambda x: x.sum(axis=-1), lambda x: algebra.dot(x, x)[..., 0]], ids=["sum", "dot"])
def test_a_sum_errs_like_all_its_orders(terms, add):
    """n (r^2 / 3 + sum x^2 / 6) + r^2 for n terms x of sum r: terms 1, which the format holds. Operands of 60 bits,
    so that the sum alone errs.
    """
    x = noisy(np.ones(terms), Arithmetic(operand_bits=60, bits=24, samples=SAMPLES))
    want = FP32.unit * THIRD * np.sqrt(terms * (terms**2 / 3 + terms / 6) + terms**2)
    assert abs(spread(add(x)) / want - 1) < SURE


def test_half_of_the_variance_is_common_to_an_array():
    """The mean over many numbers of an array keeps half of the variance of each."""
    values = irrational(1000)
    errors = np.asarray(noisy(values, FP32)) / values - 1
    assert abs(errors.mean(axis=1).std() / (FP32.unit * THIRD * 0.5**0.5) - 1) < SURE


def test_log_decays_carry_the_error_of_a_cumulative_sum():
    """Of the last 64 tokens: with -1 everywhere, min(t + 1, 64) units times a uniform on [-1, 1)."""
    log_decay = np.full((100, 1), -1.0)
    got = spread(noisy_log_decay(log_decay, FP32))[:, 0]
    want = FP32.unit * THIRD * np.minimum(np.arange(100) + 1, 64)
    assert np.abs(got / want - 1).max() < SURE


def test_no_decay_strays_beyond_one():
    """Whatever came before: sqrt(1 - decay^2) must stay a number, and a token that keeps everything keeps it."""
    x = np.asarray(noisy_log_decay(np.array([[-1e4], [0.0], [-1e-6]]), FP32))
    assert (x <= 0).all()
    assert (x[:, 1] == 0).all()
    assert spread(x)[2] > 1e-6


def test_tokens_are_where_the_record_says():
    """Gates of every entry, (T, K, V): the sum is over tokens, not over channels."""
    log_decay = np.full((100, 2, 3), -1.0)
    got = spread(noisy_log_decay(log_decay, FP32, axis=-3))
    want = FP32.unit * THIRD * np.minimum(np.arange(100) + 1, 64)[:, None, None]
    assert np.abs(got / want - 1).max() < SURE


@pytest.mark.parametrize(("terms", "together"), [(np.full(50, 1 / 3), np.sum), (irrational(50), np.linalg.norm)])
def test_the_errors_of_partial_sums_add_up(terms, together):
    """After equal terms they are the same share of the sum, after others they know nothing of each other."""
    terms = terms.astype(np.float32).astype(float)
    sums = np.cumsum(terms)
    rounded = np.where(sums.astype(np.float32) == sums, 0, sums)
    got = spread(np.cumsum(noisy(terms, FP32), axis=-1))[-1]
    assert abs(got / (FP32.unit * THIRD * together(rounded)) - 1) < SURE


def test_a_promise_of_single_decays_has_no_such_error():
    exact = np.array([[-1.0], [-0.5], [-np.inf], [0.0]])
    x = noisy_log_decay(exact, Arithmetic(24, 24, gate_chunk=0))
    assert (x == exact).all()


def test_minus_infinity_survives_and_does_not_spread():
    """As -inf itself, with no error for the tokens after it but their own."""
    log_decay = np.array([[-1.0], [-np.inf], [-1.0]])
    x = noisy_log_decay(log_decay, FP32)
    assert (x[:, 1] == -np.inf).all()
    assert (np.exp(x)[:, 1] == 0).all()
    assert np.isfinite(x[:, [0, 2]]).all()
    assert (noisy_constant_log_decay(np.array([-np.inf]), FP32) == -np.inf).all()


@pytest.mark.parametrize(("log_decay", "size"), [(-0.125, 64 * 0.125**2), (-3.0, 64 * 3.0), (0.0, 0.0)])
def test_a_constant_log_decay_carries_the_error_of_its_multiples(log_decay, size):
    got = spread(noisy_constant_log_decay(np.array([log_decay]), FP32))[0]
    assert abs(got - FP32.unit * THIRD * size) <= SURE * FP32.unit * THIRD * size


def test_deviations_are_result_minus_truth():
    x = np.array([0.1, 0.5])
    got = deviations(lambda z: {"y": z["x"] * 1}, {"x": noisy(x, FP32)}, {"y": x})["y"]
    assert got.shape == (SAMPLES, 2)
    assert np.abs(got[:, 0]).max() <= 0.1 * 2**0.5 * 2 * FP32.unit
    assert not got[:, 1].any()
