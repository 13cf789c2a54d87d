r"""The recurrent network of Elman, the ancestor: every token waits for the one before.

.. math::

    h_t &= \tanh(x_t + R h_{t-1}) \\
    o_t &= h_t

x is what the input contributes, W x + b. The state passes a matrix and a tanh, so that there is no closed form over a
sequence and nothing to scan.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import times
from linattn.record import Input, Source, Variant
from linattn.variants import linear_recurrence


def step(h, x, R):
    """Orvieto et al., equation (1), with h for their x."""
    h = np.tanh(x + times(R, h))  # WRITE
    return (h,), h  # READ


PRE_ACTIVATION = replace(linear_recurrence.INPUT, doc="what the input contributes")
RECURRENT = Input("R", "D D", "matrix from the state to the state", heads="v", role="parameter", typical="unit")

VARIANT = Variant(
    name="rnn",
    title="Recurrent network",
    summary="a state that passes a matrix and a tanh at every token",
    step=step,
    parallel=None,
    inputs=(PRE_ACTIVATION, RECURRENT),
    state=(linear_recurrence.HIDDEN,),
    mixing=True,
    exact="nothing: there is one form",
    output="T D",
    exempt=("neutral",),
    linear=(),
    constraints=(
        "C1  Every output lies between -1 and 1.",
        "C2  R = 0 has no memory: o_t = tanh(x_t).",
    ),
    sources=(
        Source(
            "Resurrecting Recurrent Neural Networks for Long Sequences",
            "Orvieto et al.",
            2023,
            "2303.06349",
            "equation (1)",
        ),
    ),
    aliases={"onnx": "RNN", "torch": "RNN"},
)
