r"""Mamba-2 (state space duality, SSD): simple GLA with decays exp(dt A), values dt v and a skip.

.. math::

    S_t &= e^{\Delta_t A} S_{t-1} + k_t (\Delta_t v_t)^\top \\
    o_t &= S_t^\top q_t + D v_t

The paper's names: x = v, B = k, C = q; its state is the transpose of ours. dt is positive, after its bias, softplus
and limits; A = -exp(A_log) is one negative number per head, and so is D. The groups of B and C are key heads: each
serves several value heads. The gate silu(z) and the norm are outside. There is no scale.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Source, Variant
from linattn.variants import mamba, simple_gla


def step(S, q, k, v, dt, A, D):
    """Dao and Gu 2024, equation (2) with A_t = exp(dt A) and B_t = dt B, as in ``selective_state_update_ref``."""
    S = np.exp(dt * A)[..., :, None] * S  # DECAY
    S = S + outer(k, dt * v)  # WRITE
    return (S,), read(q, S) + D * v  # READ


def parallel(S, q, k, v, dt, A, D):
    """Equation (16), listing 1."""
    (S,), o = simple_gla.parallel(S, q, k, dt * v, dt * A[..., None, :], 1)
    return (S,), o + D[..., None, :] * v


VARIANT = Variant(
    name="mamba2",
    title="Mamba-2",
    summary="linear attention with a decay exp(dt A) per head and token, values dt v, a skip D v",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        KEY,
        VALUE,
        replace(mamba.STEP_SIZE, axes="T 1"),
        replace(mamba.RATE, axes="1", doc="rate of change of the head"),
        replace(mamba.SKIP, axes="1"),
    ),
    state=(MEMORY,),
    constraints=(
        "C1  dt >= 0 and A <= 0.",
        "C2  dt_t = 0 leaves the state as it is: the token is ignored, but for its skip.",
        "C3  It is simple GLA with log_decay = dt A and values dt v, plus D v.",
        "C4  A = 0 and D = 0 is linear attention on values dt v.",
    ),
    sources=(
        Source(
            "Transformers are SSMs",
            "Dao, Gu",
            2024,
            "2405.21060",
            "equations (2), (6) and (16), remark 1 for dt, section 7.2 for groups, listing 1 (version 1)",
        ),
    ),
    aliases={
        "ggml": "ssm_scan (A per head; dt before its softplus; D outside; the state transposed)",
        "fla": "simple_gla with g = dt A, v = dt x, scale 1",
        "mamba_ssm": "mamba_chunk_scan_combined",
        "transformers": "Mamba2Mixer",
    },
    used_by={
        "Mamba-2": "transformers mamba2",
        "Bamba": "transformers bamba",
        "Falcon-H1": "transformers falcon_h1",
        "Granite 4.0-H": "transformers granitemoehybrid",
        "Nemotron-H": "transformers nemotron_h",
        "Zamba2": "transformers zamba2",
        "PLaMo 2": "mlx-lm plamo2",
    },
)
