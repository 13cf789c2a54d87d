"""The cases by hand: two tokens of one channel, with the sum written out for every variant.

q = v = (1, 2), k = (1, 1), scale = 1, log_decay = -1, beta = 1/2, and a state of 1. The past of softmax attention is
four keys 1 with the values 1, 2, 3, 4: all its scores are equal, so that its outputs are means.
"""

import math

import pytest

import linattn_golden
from linattn import VARIANTS

A = math.exp(-1)
WRITTEN_OUT = {  # variant: the state after each token, and the output
    "softmax_attention": ((), [(10 + 1) / 5, (10 + 1 + 2) / 6]),
    "linear_attention": ((4,), [1 * (1 + 1), 2 * (2 + 2)]),
    "normalised_linear_attention": ((4, 3), [(1 + 1) / (1 + 1), (2 * 4) / (2 * 3)]),
    "retention": ((A * (A + 1) + 2,), [A + 1, 2 * (A * (A + 1) + 2)]),
    "simple_gla": ((A * (A + 1) + 2,), [A + 1, 2 * (A * (A + 1) + 2)]),
    "gla": ((A * (A + 1) + 2,), [A + 1, 2 * (A * (A + 1) + 2)]),
    "delta_rule": ((1.5,), [1 + (1 - 1) / 2, 2 * (1 + (2 - 1) / 2)]),
    "gated_delta_rule": ((A * (A + 1) / 4 + 1,), [(A + 1) / 2, 2 * (A * (A + 1) / 4 + 1)]),
    "kda": ((A * (A + 1) / 4 + 1,), [(A + 1) / 2, 2 * (A * (A + 1) / 4 + 1)]),
}


def test_every_variant_is_written_out():
    assert set(WRITTEN_OUT) == {variant.name for variant in VARIANTS}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_the_golden_value_is_the_sum_on_paper(name):
    """Up to the rounding of the few operations on this page."""
    data = linattn_golden.load(linattn_golden.case(f"{name}/by-hand"))
    state, output = WRITTEN_OUT[name]
    assert data.output.ravel().tolist() == pytest.approx(output, rel=2.0**-50)
    if state:
        assert [x.item() for x in data.final_state] == pytest.approx(state, rel=2.0**-50)
