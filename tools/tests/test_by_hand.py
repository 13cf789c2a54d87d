"""The cases by hand: two tokens of one channel, with the sum written out for every variant.

q = v = (1, 2), k = (1, 1), scale = 1, log_decay = -1, beta = 1/2, and a state of 1. The past in a cache is four keys 1
with the values 1, 2, 3, 4: all scores are equal, so that the outputs are means.
"""

import math

import pytest

import linattn_golden
from linattn import VARIANTS
from linattn_tools.golden.scenarios import BY_HAND


def broken(score, values):
    """Of the last value first."""
    share = 1 / (1 + math.exp(-score))
    return sum(share * (1 - share) ** n * v for n, v in enumerate(values))


A = math.exp(-1)
DECAYED = A * (A + 1)  # of the state and the first write
MEANS = ((), [(10 + 1) / 5, (10 + 1 + 2) / 6])
WEIGHT = (1 / 2) / (1 + 1 / 2)  # of the error, in the step that is stable for keys of any length
CORRECTED = ((1 + WEIGHT,), [1 + WEIGHT * (1 - 1), 2 * (1 + WEIGHT * (2 - 1))])
FOUND = [(4 * math.exp(A), 10 / 4, math.e, 1), (4 * math.exp(2 * A * A), 10 / 4, math.exp(2 * A), 1, math.exp(2), 2)]
FADED = [sum(w * v for w, v in zip(x[::2], x[1::2], strict=True)) / sum(x[::2]) for x in FOUND]  # weights and values
GATED = ((DECAYED + 2,), [A + 1, 2 * (DECAYED + 2)])
WRITTEN_OUT = {  # variant: the state after each token, and the output
    "softmax_attention": MEANS,
    "kernel_attention": MEANS,
    "wall": ((), FADED),
    "stick_breaking": ((), [broken(1, [4, 3, 2, 1]), broken(2, [1, 4, 3, 2, 1])]),
    "linear_attention": ((4,), [1 * (1 + 1), 2 * (2 + 2)]),
    "normalised_linear_attention": ((4, 3), [(1 + 1) / (1 + 1), (2 * 4) / (2 * 3)]),
    "retention": GATED,
    "simple_gla": GATED,
    "gla": GATED,
    "lightning_attention": GATED,
    "hadamard_gated_linear_attention": GATED,
    "hgrn2": ((2 - A,), [A + (1 - A), 2 * (A + 2 * (1 - A))]),
    "gated_rfa": ((2 - A, 1), [1, (A + 2 * (1 - A)) / (A + (1 - A))]),
    "power_attention": ((DECAYED + 2, DECAYED + 1), [(A + 1) / (A + 1), (DECAYED + 2) / (DECAYED + 1)]),
    "delta_rule": ((1.5,), [1 + (1 - 1) / 2, 2 * (1 + (2 - 1) / 2)]),
    "gated_delta_rule": ((DECAYED / 4 + 1,), [(A + 1) / 2, 2 * (DECAYED / 4 + 1)]),
    "gated_delta_product": (  # two writes a token
        (A * (A + 3) / 16 + 3 / 2,),
        [(A + 3) / 4, (A * (A + 3) / 4 + 6) / 2],
    ),
    "gated_oja": ((1 - DECAYED / 2,), [A + (1 - A) / 2, 2 * (DECAYED / 2 + (1 - 2 * DECAYED / 2))]),
    "kda": ((DECAYED / 4 + 1,), [(A + 1) / 2, 2 * (DECAYED / 4 + 1)]),
    "longhorn": CORRECTED,
    "longhorn_diagonal": CORRECTED,
}


def test_every_variant_with_these_inputs_alone_is_written_out():
    def names(variant):
        return {item.name for item in (*variant.inputs, *variant.state) if item.axes}

    assert set(WRITTEN_OUT) == {variant.name for variant in VARIANTS if names(variant) <= set(BY_HAND)}


@pytest.mark.parametrize("name", WRITTEN_OUT)
def test_the_golden_value_is_the_sum_on_paper(name):
    """Up to the rounding of the few operations on this page."""
    data = linattn_golden.load(linattn_golden.case(f"{name}/by-hand"))
    state, output = WRITTEN_OUT[name]
    assert data.output.ravel().tolist() == pytest.approx(output, rel=2.0**-50)
    if state:
        assert [x.item() for x in data.final_state] == pytest.approx(state, rel=2.0**-50)
