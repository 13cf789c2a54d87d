"""What holds alike for variants that turn, elementwise scans and their ancestors."""

import numpy as np
import pytest
from drawing import agree, each
from rotations_and_scans import (
    ANCESTORS,
    ROTATIONS,
    SCANS,
    certify_alike,
    gradients_agree,
    in_field,
    keeps_the_precision,
)

EACH = each((*ROTATIONS, *SCANS, *ANCESTORS))


@each((*ROTATIONS, *SCANS))
def test_all_routes_agree_exactly(variant):
    assert agree(variant, in_field(variant))


@EACH
def test_the_routes_certify_to_the_same_bytes_and_floats_follow(variant):
    certify_alike(variant)


@EACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_precision_stays(variant, dtype):
    keeps_the_precision(variant, dtype)


@EACH
def test_gradients_agree_with_the_complex_step(variant):
    gradients_agree(variant)
