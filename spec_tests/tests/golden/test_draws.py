"""The draws: raw Philox bits on the grids that every dtype holds, in the ranges that their names promise."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linattn_golden.draws import DRAWS, SMALLEST, Draw, bell, bfloat16, fraction, key_of

EACH_DRAW = pytest.mark.parametrize("name", DRAWS)
KEY = key_of("a test")
RANGES = {
    "bell": (-4, 4),
    "bell-f32": (-4, 4),
    "unit": (-1, 1),
    "short-unit": (-0.75, 0.75),
    "one-hot": (0, 1),
    "integers": (-2, 2),
    "keep-or-forget": (-np.inf, 0),
    "positive": (2.0**-4, 4 + 2.0**-4),
    "zero": (0, 0),
    "one": (1, 1),
    "count": (1, 33),
    "minus-one": (-1, -1),
    "half": (0.5, 0.5),
    "mild": (-1, 0),
    "slow": (-(2.0**-5), 0),
    "medium-f32": (-5, 0),
    "strong": (-20, 0),
    "spike-f32": (-20, 0),
    "reset": (-np.inf, 0),
    "faint-at-resets": (-(2.0**15), 2.0**15),
    "faint-keys-at-resets": (-(2.0**15), 2.0**15),
    "never": (-np.inf, -np.inf),
    "far": (-40, 100),
    "far-below": (-16, -8),
    "small-log": (-6, -4),
    "large-log": (6, 8),
    "angle": (0, 2.0**-7),
    "strength": (0, 1),
    "strength-to-2": (0, 2),
    "strength-0-1-2": (0, 2),
    "large-f32": (-(2.0**42), 2.0**42),
    "large-positive-f32": (2.0**36, 2.0**42 + 2.0**36),
    "above": (92, 100),
    "below": (-64, -56),
    "rising": (-4, 100),
    "falling": (-100, 4),
    "paused": (-np.inf, 4),
    "sharp": (-(2.0**15), 2.0**15),
    "large": (-(2.0**30), 2.0**30),
    "every-fourth": (0, 1),
}


def drawn(name, shape=(2, 3, 33, 8), key=KEY):
    return Draw(name, shape, key).array()


def philox(counter, key):
    """Philox 4x64-10 as published (Salmon et al., 2011): one block of four words."""
    words, (k0, k1), mask = [counter, 0, 0, 0], key, 2**64 - 1
    for _ in range(10):
        first, second = 0xD2E7470EE14C6C93 * words[0], 0xCA5A826395121157 * words[2]
        words = [(second >> 64) ^ words[1] ^ k0, second & mask, (first >> 64) ^ words[3] ^ k1, first & mask]
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & mask, (k1 + 0xBB67AE8584CAA73B) & mask
    return words


def test_the_philox_of_this_file_is_the_published_one():
    """The known answer of its authors for counter 0 and key 0."""
    assert [hex(word) for word in philox(0, (0, 0))] == [
        "0x16554d9eca36314c", "0xdb20fe9d672d0fdc", "0xd7e772cee186176b", "0x7e68b68aec7ba23b"
    ]  # fmt: skip


def test_bits_are_those_of_philox_from_counter_1():
    """What a reader in another language has to write."""
    key = int(KEY, 16)
    words = [word for block in (1, 2) for word in philox(block, (key & (2**64 - 1), key >> 64))]
    want = bfloat16(fraction(np.array(words[:6], dtype=np.uint64).reshape(2, 3)))
    assert np.array_equal(drawn("strength", (2, 3)), want)


@EACH_DRAW
def test_every_dtype_holds_every_value(name):
    """bfloat16, float16 (unless it ends too early) and float32 for what is stored as BF16; float32 for the
    gates whose sums should round.
    """
    values = drawn(name)
    dtypes = [np.float32] if name.endswith("f32") else [ml_dtypes.bfloat16, np.float16, np.float32]
    if np.inf > RANGES[name][1] > float(np.finfo(np.float16).max):
        dtypes = [dtype for dtype in dtypes if dtype != np.float16]
    for dtype in dtypes:
        assert np.array_equal(values.astype(dtype).astype(float), values)


@EACH_DRAW
def test_values_stay_in_their_range(name):
    values, (low, high) = drawn(name), RANGES[name]
    assert low <= values.min()
    assert values.max() <= high
    assert RANGES.keys() == DRAWS.keys()


@pytest.mark.parametrize("name", [name for name, (low, high) in RANGES.items() if low != high])
def test_draws_depend_on_their_key(name):
    same, other = drawn(name), drawn(name, key=key_of("another test"))
    assert np.array_equal(drawn(name), same)
    assert np.array_equal(other, same) == (name in ("count", "strength-0-1-2", "every-fourth"))


def test_float32_gates_have_sums_that_round():
    """The sum of two of them needs more than the 24 bits of a float32; of the BF16 ones it does not."""
    gates = drawn("medium-f32")
    sums = gates[..., 1:, :] + gates[..., :-1, :]
    assert (sums.astype(np.float32) != sums).mean() > 0.1


@pytest.mark.parametrize(("name", "length"), [("unit", 1), ("short-unit", 0.75)])
def test_unit_vectors_have_their_length(name, length):
    """Up to the rounding of each element (2^-9 of it) and the flushing of small ones (2^-12 each, eight of them)."""
    lengths = np.linalg.norm(drawn(name), axis=-1)
    assert np.abs(lengths - length).max() <= 2.0**-9 + 8**0.5 * 2.0**-12


def test_a_bell_is_a_sum_of_four_uniforms():
    """Mean 0 and standard deviation (4 / 3)^1/2; five standard errors of 2^16 draws. The ends are exact."""
    values = bell(np.random.Philox(0).random_raw(2**16))
    assert abs(values.mean()) < 5 * (4 / 3) ** 0.5 / 2**8
    assert abs(values.std() - (4 / 3) ** 0.5) < 5 * (4 / 3) ** 0.5 / 2**8
    ends = bell(np.array([0, 2**64 - 1], dtype=np.uint64))
    assert ends.tolist() == [-2 * 0xFFFF * 2.0**-15, 2 * 0xFFFF * 2.0**-15]


def test_resets_and_spikes_are_where_they_should_be():
    reset, spike = drawn("reset"), drawn("spike-f32")
    forgotten = np.isneginf(reset)
    assert forgotten[:, :, 3::5].all()
    assert forgotten[:, :, 9::5, 0].all()
    assert not forgotten[:, :, 9::5, 1:].any()
    assert not forgotten[:, :, [0, 1, 2, 4]].any()
    for name, most in (("faint-at-resets", 2.0**-8), ("faint-keys-at-resets", 2.0**-11)):
        assert np.abs(drawn(name)[:, :, 3::5]).max() <= most
        assert (np.delete(drawn(name), np.s_[3::5], axis=2) == 0).mean() < 0.01
    assert (spike[:, :, 4] == -20).all()
    assert (np.delete(spike, 4, axis=2) >= -(2.0**-4)).all()


@given(st.floats(width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**100), max_value=2.0**100))
def test_rounding_to_bfloat16_is_that_of_ml_dtypes(x):
    """Ties to even; below 2^-12 everything is 0."""
    want = float(np.float32(x).astype(ml_dtypes.bfloat16))
    assert bfloat16(np.array([x])) == (want if abs(want) >= SMALLEST else 0)


@pytest.mark.parametrize(("x", "even"), [(1 + 2.0**-8, 1.0), (1 + 3 * 2.0**-8, 1 + 2.0**-6), (-np.inf, -np.inf)])
def test_ties_go_to_even(x, even):
    assert bfloat16(np.array([x])) == even


@EACH_DRAW
def test_a_draw_of_nothing_has_its_shape(name):
    assert drawn(name, (2, 0, 3)).shape == (2, 0, 3)
