"""In words where an error begins: told apart from synthetic errors whose place is known."""

import numpy as np
import pytest

from linattn_spec import where
from linattn_spec.frameworks import typed

RIGHT = np.random.default_rng(0).normal(size=(2, 3, 256, 4))  # B, H, T, V
UNIT = 1e-9


def described(got: np.ndarray, want: np.ndarray = RIGHT, name: str = "output") -> str:
    with np.errstate(invalid="ignore"):
        return where.describe({name: got}, {name: want}, {name: (got - want) / UNIT})


def spoilt(*place) -> np.ndarray:
    got = RIGHT.copy()
    got[place] += RIGHT[place] ** 2 + 1
    return got


ALL = slice(None)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((), "from the first token on"),
        ((ALL, ALL, 0), "at the first token alone"),
        ((ALL, ALL, slice(0, 9)), "from the first token to 8"),
        ((ALL, ALL, slice(7, None)), "from token 7 on"),
        ((ALL, ALL, slice(7, 9)), "from token 7 to 8"),
        ((ALL, ALL, 7), "at token 7 alone"),
        ((ALL, ALL, 255), "at token 255 alone"),
        ((ALL, ALL, slice(48, None)), "from token 48 on, the start of a chunk of 16"),
        ((ALL, ALL, slice(96, 97)), "at token 96 alone, the start of a chunk of 32"),
        ((ALL, ALL, slice(192, None)), "from token 192 on, the start of a chunk of 64"),
        ((ALL, ALL, slice(128, 200)), "from token 128 to 199, the start of a chunk of 128"),
        ((1, ALL, slice(7, None)), "only batch entry 1 of 2, from token 7 on"),
        ((ALL, 2, slice(7, None)), "only head 2 of 3, from token 7 on"),
        ((ALL, slice(0, 2), slice(7, None)), "only heads 0, 1 of 3, from token 7 on"),
        ((0, 1, 7, 3), "only batch entry 0 of 2, only head 1 of 3, at token 7 alone"),
    ],
)
def test_place(place, words):
    assert described(spoilt(*place)) == f"output: {words}"


@pytest.mark.parametrize(
    ("got", "words"),
    [
        (2 * RIGHT, "2 times the right values"),
        (-RIGHT, "-1 times the right values"),
        (1.001 * RIGHT, "1.001 times the right values"),
        (0 * RIGHT, "zeros where there should be values"),
        (np.where(RIGHT > 3, np.inf, RIGHT), f"{(RIGHT > 3).sum()} of {RIGHT.size} values not finite"),
        (typed(RIGHT, "bfloat16").values, "right to 8 bits"),
        (typed(RIGHT, "float16").values, "right to 11 bits"),
    ],
)
def test_what_the_wrong_values_have_in_common(got, words):
    assert described(got).endswith(words)


def test_a_transposed_state_is_named():
    square = RIGHT[:, :, :4]
    assert described(np.swapaxes(square, 2, 3), square, "final_state/S") == "final_state/S: equal to the transpose"


def test_right_arrays_are_named_and_small_errors_have_no_place():
    got = {"output": spoilt(ALL, ALL, 7), "final_state/S": RIGHT}
    errors = {name: (x - RIGHT) / UNIT for name, x in got.items()}
    assert where.describe(got, dict.fromkeys(got, RIGHT), errors) == "output: at token 7 alone; final_state/S right"
    assert described(RIGHT + 4 * UNIT) == "small errors everywhere: the precision is lower than promised"
