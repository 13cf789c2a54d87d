"""The finite field is a field, exp is a homomorphism, and what is no number of it is refused."""

import operator
from math import isqrt, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linattn.numbers.field import GENERATOR, PRIME, Angle, Log, Number, draw

FACTORS = (2, 3, 5, 7, 11, 13, 31, 41, 61, 151, 331, 1321)  # the primes of PRIME - 1
NUMBERS = st.integers(0, PRIME - 1).map(Number)
LOGS = st.integers(0, PRIME - 2).map(Log)
ANGLES = st.integers(0, PRIME).map(Angle)
LOG_ZERO = Log(None)


def test_the_prime_is_one():
    """Lucas-Lehmer for 2^61 - 1."""
    s = 4
    for _ in range(61 - 2):
        s = (s * s - 2) % PRIME
    assert s == 0


def test_the_generator_is_a_primitive_root():
    """Its order divides PRIME - 1, and no proper divisor of it is the order."""
    assert prod(FACTORS) * 3 * 5 == PRIME - 1
    assert all(f % d for f in FACTORS for d in range(2, isqrt(f) + 1))
    assert all(pow(GENERATOR, (PRIME - 1) // f, PRIME) != 1 for f in FACTORS)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_field_axioms(x, y, z):
    assert x + y == y + x
    assert x * y == y * x
    assert (x + y) + z == x + (y + z)
    assert (x * y) * z == x * (y * z)
    assert x * (y + z) == x * y + x * z
    assert x + 0 == x * 1 == x
    assert x + -x == 0
    assert x - y == x + -y
    assert y == 0 or (x / y) * y == x
    assert y == 0 or 1 / y == Number(1) / y


def test_one_over_zero_is_refused():
    with pytest.raises(ValueError, match="not invertible"):
        1 / Number(0)


@given(LOGS, LOGS, st.integers(-(2**70), 2**70))
def test_exp_is_a_homomorphism(x, y, n):
    assert (x + y).exp() == x.exp() * y.exp()
    assert (x - y).exp() == x.exp() / y.exp()
    assert (-x).exp() == 1 / x.exp()
    assert (n * x).exp() == Number(pow(x.exp().value, n, PRIME))
    assert Log(0).exp() == 1


@given(LOGS)
def test_the_logarithm_of_zero_absorbs(x):
    assert x + LOG_ZERO == LOG_ZERO + x == LOG_ZERO - x == LOG_ZERO
    assert x + float("-inf") == LOG_ZERO
    assert LOG_ZERO.exp() == 0
    assert LOG_ZERO.maximum(x) == x.maximum(LOG_ZERO) == x


@pytest.mark.parametrize(
    "undefined", [lambda: -LOG_ZERO, lambda: 1 * LOG_ZERO, lambda: Log(1) - LOG_ZERO, lambda: 0 - LOG_ZERO]
)
def test_the_logarithm_of_zero_has_no_negative_and_no_multiples(undefined):
    with pytest.raises(ZeroDivisionError, match="log 0 has no"):
        undefined()


@given(LOGS, LOGS)
def test_the_maximum_of_exponents_is_one_of_them_whatever_their_order(x, y):
    assert x.maximum(y) == y.maximum(x)
    assert x.maximum(y) in (x, y)


@given(ANGLES, ANGLES, st.integers(-(2**70), 2**70))
def test_angles_add_like_rotations(x, y, n):
    assert (x + y).cos() == x.cos() * y.cos() - x.sin() * y.sin()
    assert (x + y).sin() == x.sin() * y.cos() + x.cos() * y.sin()
    assert x.cos() * x.cos() + x.sin() * x.sin() == 1
    assert x + y == y + x
    assert (x - y) + y == x + 0 == 0.0 + x == 0 - -x == x
    assert n * x + x == (n + 1) * x == x * (n + 1.0 if abs(n) < 2**50 else n + 1)


def test_the_angle_one_generates_all():
    """The circle has PRIME + 1 = 2^61 points, PRIME being 3 modulo 4; half as many steps are half a turn."""
    assert PRIME % 4 == 3
    half = Angle((PRIME + 1) // 2)
    assert (half.cos(), half.sin()) == (Number(-1), Number(0))
    assert 2 * half == Angle(0)
    assert (Angle(0).cos(), Angle(0).sin()) == (Number(1), Number(0))


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("other", [0.1, "1", None, Number(0), Log(0)])
def test_angles_refuse_what_is_none(operation, other):
    with pytest.raises(TypeError):
        operation(Angle(8), other)
    with pytest.raises(TypeError):
        operation(other, Angle(8))


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("whole", [2, 2.0, np.int8(2), np.float64(2.0)])
def test_whole_numbers_mix_in(operation, whole):
    assert operation(Number(8), whole) == operation(Number(8), Number(2))
    assert operation(whole, Number(8)) == operation(Number(2), Number(8))


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("other", [0.1, np.float32(0.1), "1", None])
def test_anything_else_is_refused(operation, other):
    with pytest.raises(TypeError):
        operation(Number(8), other)
    with pytest.raises(TypeError):
        operation(other, Number(8))


@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul])
@pytest.mark.parametrize("other", [0.1, "1", None])
def test_exponents_refuse_what_is_none(operation, other):
    with pytest.raises(TypeError):
        operation(Log(8), other)
    with pytest.raises(TypeError):
        operation(other, Log(8))


@pytest.mark.parametrize("operation", [operator.add, operator.sub])
def test_exponents_and_numbers_do_not_add_up(operation):
    with pytest.raises(TypeError):
        operation(Log(8), Number(1))
    with pytest.raises(TypeError):
        operation(Number(1), Log(8))


def test_an_exponent_times_a_number_is_one_and_not_linear_in_the_number():
    """It is so in the exponent: a factor of scores. What holds for it holds for any function of the number."""
    x, large = Number(5), Number(-5)
    assert Log(8) * x == x * Log(8) == Log(40)
    assert (Log(8) + Log(3)) * x == Log(8) * x + Log(3) * x
    assert Log(8) * (x + large) == Log(0)
    assert Log(8) * x + Log(8) * large != Log(0)


@given(
    st.integers(0, 3), st.integers(0, 3), st.sampled_from(["number", "log", "angle"]), st.randoms(use_true_random=False)
)
def test_draws_have_the_shape_and_the_type(rows, columns, kind, rng):
    array = draw((rows, columns), kind, rng)
    assert array.shape == (rows, columns)
    assert array.dtype == object
    assert all(type(x) is {"number": Number, "log": Log, "angle": Angle}[kind] for x in array.ravel())


def test_numpy_contracts_field_elements():
    """(A B) C = A (B C), by matmul and by einsum, with a matrix of integers among them."""
    import random

    A, B = (draw((3, 3), "number", random.Random(seed)) for seed in (1, 2))
    C = np.arange(9).reshape(3, 3)
    assert np.array_equal((A @ B) @ C, A @ (B @ C))
    assert np.array_equal(np.einsum("ij,jk->ik", A, B), A @ B)
