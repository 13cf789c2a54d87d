r"""Simple GLA: linear attention with one data-dependent decay per head and token, the core of Mamba-2.

.. math::

    S_t &= \alpha_t S_{t-1} + k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma\, S_t^\top q_t

Mamba-2 (SSD) in these names: q = C, k = B, v = dt x, g = dt A, scale = 1; its state is the transpose of ours; the
skip D x is outside.
"""

import numpy as np

from linattn.algebra import decays, outer, products, read, transpose
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, log_decay, scale):
    """Dao and Gu, equation (2) with a scalar A_t."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, scale):
    """Dao and Gu, equations (6), (10) and (16); a decay per key channel is Yang et al. 2023, equation (4)."""
    between, since_start, until_end = decays(log_decay)
    o = scale * ((since_start * q) @ S + products(q, k, between) @ v)
    return (since_start[..., -1, :, None] * S + transpose(until_end * k) @ v,), o


VARIANT = Variant(
    name="simple_gla",
    title="Simple gated linear attention",
    summary="linear attention with a scalar data-dependent decay; the core of Mamba-2",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, LOG_DECAY, SCALE),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  log_decay = 0 throughout is linear attention; one value throughout is retention.",
        "C3  log_decay_t = -inf forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Transformers are SSMs",
            "Dao, Gu",
            2024,
            "2405.21060",
            "equations (2), (3), (6), (10), (16), section 6 and listing 1 for chunks (version 1)",
        ),
    ),
    aliases={
        "onnx": 'LinearAttention update_rule="gated", decay per head',
        "fla": "simple_gla",
        "mamba_ssm": "mamba_chunk_scan_combined",
    },
)
