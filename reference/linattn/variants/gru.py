r"""GRU: a running weighted mean of candidates that see what a reset gate lets through of the state.

.. math::

    z_t &= \mathrm{sigmoid}(x^z_t + R_z h_{t-1}), \qquad r_t = \mathrm{sigmoid}(x^r_t + R_r h_{t-1}) \\
    n_t &= \tanh\big(x^n_t + R_n (r_t \odot h_{t-1})\big) \\
    o_t &= h_t = z_t \odot h_{t-1} + (1 - z_t) \odot n_t

The x are what the input contributes, W x + b. Here the reset gate comes before the matrix, as in the paper and in
ONNX by default. PyTorch and cuDNN have it after the matrix, ``reset_after``: r (R_n h + b), with a bias inside. z is
the weight of the old state; minGRU and others have it as the weight of the new one.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import sigmoid, times
from linattn.record import Source, Variant
from linattn.variants import linear_recurrence
from linattn.variants.rnn import PRE_ACTIVATION, RECURRENT


def step(h, x_z, x_r, x_n, R_z, R_r, R_n):
    """Cho et al., equations (5)-(8), with tanh for their phi."""
    z, r = (sigmoid(x + times(R, h)) for x, R in ((x_z, R_z), (x_r, R_r)))
    n = np.tanh(x_n + times(R_n, r * h))
    h = z * h  # DECAY
    h = h + (1 - z) * n  # WRITE
    return (h,), h  # READ


def reset_after(h, x_z, x_r, x_n, R_z, R_r, R_n, b):
    """One step as ``torch.nn.GRU`` has it; b is the bias of R_n."""
    z, r = (sigmoid(x + times(R, h)) for x, R in ((x_z, R_z), (x_r, R_r)))
    n = np.tanh(x_n + r * (times(R_n, h) + b))
    h = z * h + (1 - z) * n
    return (h,), h


PLACES = {"z": "the update gate", "r": "the reset gate", "n": "the candidate"}

VARIANT = Variant(
    name="gru",
    title="GRU",
    summary="a running weighted mean whose gates see the state",
    step=step,
    parallel=None,
    inputs=(
        *(replace(PRE_ACTIVATION, name=f"x_{n}", doc=f"what the input contributes to {PLACES[n]}") for n in PLACES),
        *(replace(RECURRENT, name=f"R_{n}", doc=f"matrix from the state to {PLACES[n]}") for n in PLACES),
    ),
    state=(linear_recurrence.HIDDEN,),
    mixing=True,
    exact="nothing: there is one form",
    output="T D",
    exempt=("neutral",),
    linear=(),
    constraints=(
        "C1  From a state between -1 and 1 every output lies between -1 and 1.",
        "C2  R = 0 in all places is minGRU with candidates tanh(x_n) and gate 1 - z.",
    ),
    sources=(
        Source(
            "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation",
            "Cho et al.",
            2014,
            "1406.1078",
            "section 2.3, equations (5)-(8)",
        ),
    ),
    aliases={"onnx": "GRU (linear_before_reset=0)", "torch": "GRU is reset_after"},
)
