"""What holds for all memories alike: stabilised ones, slots, regressions and levels."""

import numpy as np
import pytest
from drawing import each
from memories import (
    LEVELS,
    REGRESSION,
    SLOTS,
    STABILISED,
    certify_alike,
    each_way,
    functions_of_numbers,  # noqa: F401
    gradients_agree,
    keeps_the_precision,
    log_of_zero,  # noqa: F401
)

MEMORIES = (*STABILISED, *SLOTS, *REGRESSION, *LEVELS)
EACH = each(MEMORIES)


@EACH
def test_the_forms_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@each_way(MEMORIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, route, dtype):
    keeps_the_precision(variant, route, dtype)


@EACH
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)
