"""The fixed rates of the heads."""

import numpy as np
import pytest
from textbook import ulps

from linattn import slopes
from linattn.numbers import ball


def test_retnet():
    """The decays are 1 - 1/32, 1 - 1/64 ...; their logarithms have all digits also where few bits of them remain."""
    log_decay = slopes.retnet_log_decay(48)
    exact, _ = ball.certify(lambda x: {"g": np.log(1 - x["missing"])}, {"missing": 2.0 ** -np.arange(5.0, 53)})
    assert np.all(ulps(log_decay[:, 0], exact["g"]) <= 4)
    assert np.array_equal(np.exp(log_decay[:2, 0]), [31 / 32, 63 / 64])


def test_alibi_in_the_paper():
    """Of 8 heads 1/2 ... 1/256; of 16 they start at 2^-0.5 and end at the same."""
    assert np.array_equal(slopes.alibi_slopes(8)[:, 0], 0.5 ** np.arange(1, 9))
    assert np.array_equal(slopes.alibi_slopes(16)[[0, 1, 15], 0], [2**-0.5, 0.5, 2.0**-8])


@pytest.mark.parametrize("heads", [1, 2, 8, 32])
def test_the_two_readings_agree_on_powers_of_two(heads):
    assert np.array_equal(slopes.alibi_slopes_interleaved(heads), slopes.alibi_slopes(heads))


def test_the_two_readings_differ_elsewhere():
    """12 heads: those of 8, then the first, third, fifth and seventh of 16."""
    interleaved = slopes.alibi_slopes_interleaved(12)
    assert interleaved.shape == (12, 1)
    assert np.array_equal(interleaved[8:, 0], 2.0 ** -np.array([0.5, 1.5, 2.5, 3.5]))
    assert not np.isclose(interleaved, slopes.alibi_slopes(12)).all()


def test_transnormer():
    """The decay of the authors ends with the layers; fla's first head never decays."""
    assert np.allclose(slopes.alibi_log_decay(8, 0, 4)[:, 0], -(0.5 ** np.arange(1, 9)) * 1.00001, rtol=1e-15)
    assert np.allclose(slopes.alibi_log_decay(2, 3, 4)[:, 0], [-(2.0**-4) * 1e-5, -(2.0**-8) * 1e-5])
    assert np.array_equal(slopes.linear_log_decay(4, 1, 4)[:, 0], [0, -1.5, -3, -4.5])


@pytest.mark.parametrize(
    "rates",
    [
        slopes.retnet_log_decay(6),
        -slopes.alibi_slopes(6),
        -slopes.alibi_slopes_interleaved(6),
        slopes.alibi_log_decay(6, 1, 3),
        slopes.linear_log_decay(6, 1, 3),
    ],
)
def test_all_are_log_decays_of_heads(rates):
    assert rates.shape == (6, 1)
    assert (rates <= 0).all()
    assert len(np.unique(rates)) == 6
