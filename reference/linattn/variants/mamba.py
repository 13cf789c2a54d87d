r"""Mamba (S6, the selective scan): every channel has its own decay of every entry of its state.

.. math::

    S_t &= e^{(\Delta_t A)^\top} \odot S_{t-1} + k_t (\Delta_t \odot v_t)^\top, \qquad
           (\Delta_t A)_{dn} = \Delta_{t,d} A_{dn} \\
    o_t &= S_t^\top q_t + D \odot v_t

The paper's names: x = v, B = k, C = q, its N is our K, its D our V; its state is the transpose of ours. dt is
positive, after its bias and softplus; A = -exp(A_log) is negative. The gate silu(z) is outside. There is no scale.

The paper's equation (4) holds B for a step, its code takes the first order of that, dt B, as here: what (4) has in
place of dt is the weight of ``discretise.zero_order_hold``. With a complex A the code returns twice the real part.
"""

import numpy as np

from linattn.algebra import outer, read, transpose
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import hadamard_gated_linear_attention as hadamard

LOWEST = -65504  # finite in every format: for dt = 0 the exponent dt A must be 0

STEP_SIZE = Input("dt", "T V", "step size", heads="v", domain=(0, np.inf), neutral=0, role="gate", typical="strength")
RATE = Input(
    "A", "V K", "rate of change of each entry", heads="v", domain=(LOWEST, 0), role="parameter", typical="mild"
)
SKIP = Input("D", "V", "weight of the value itself in the output", heads="v", neutral=0, role="parameter")


def step(S, q, k, v, dt, A, D):
    """Gu and Dao 2023, equation (2) and algorithm 2, discretised as in ``selective_scan_ref``."""
    S = np.exp(transpose(dt[..., :, None] * A)) * S  # DECAY
    S = S + outer(k, dt * v)  # WRITE
    return (S,), read(q, S) + D * v  # READ


def parallel(S, q, k, v, dt, A, D):
    """Section 3.3.2: the scan of the full Hadamard gate."""
    log_decay = transpose(dt[..., :, None] * A[..., None, :, :])
    (S,), o = hadamard.parallel(S, q, k, dt * v, log_decay, 1)
    return (S,), o + D[..., None, :] * v


VARIANT = Variant(
    name="mamba",
    title="Mamba",
    summary="the selective scan: a decay exp(dt A) per entry of the memory, values dt v, a skip D v",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, STEP_SIZE, RATE, SKIP),
    state=(MEMORY,),
    constraints=(
        "C1  dt >= 0 and A <= 0.",
        "C2  dt_t = 0 in all channels leaves the state as it is: the token is ignored, but for its skip.",
        "C3  It is the full Hadamard gate with log_decay = (dt A)^T and values dt v, plus D v.",
        "C4  One A and one dt for all entries of a head is Mamba-2.",
        "C5  Channels do not mix: each is a Mamba of its own.",
    ),
    sources=(
        Source(
            "Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
            "Gu, Dao",
            2023,
            "2312.00752",
            "equations (2) and (4), algorithm 2, section 3.3.2 for the scan (version 2)",
        ),
    ),
    aliases={
        "ggml": "ssm_scan (A per channel; dt before its softplus; D outside; the state transposed)",
        "mamba_ssm": "selective_scan_fn, selective_scan_ref",
        "transformers": "MambaMixer",
    },
    used_by={
        "Mamba": "transformers mamba",
        "Falcon Mamba": "transformers falcon_mamba",
        "Jamba": "transformers jamba",
        "Zamba": "transformers zamba",
    },
)
