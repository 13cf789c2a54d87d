r"""Gated delta rule (Gated DeltaNet): the memory decays as a whole, then what the key retrieves is replaced.

.. math::

    S_t &= \alpha_t (I - \beta_t k_t k_t^\top) S_{t-1} + \beta_t k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma\, S_t^\top q_t

Decay comes first: the erase term reads the state after it has decayed. The paper has no scale (``scale=1``) and
writes the state transposed. Its printed chunk output masks Q K^T by M; the identity needs the decay mask, as here.
"""

import numpy as np

from linattn.algebra import decays, outer, products, read, transpose, unit_lower_solve
from linattn.inputs import BETA, LOG_DECAY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, log_decay, beta, scale):
    """Yang, Kautz, Hatamizadeh, equation (10)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    retrieved = read(k, S)  # ERASE
    S = S + outer(k, beta * (v - retrieved))  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, beta, scale):
    """Section 3.3. The writes u solve a unit lower-triangular system; all else are weighted products with u."""
    between, since_start, until_end = decays(log_decay)
    u = unit_lower_solve(beta * np.tril(products(k, k, between), -1), beta * (v - (since_start * k) @ S))
    o = scale * ((since_start * q) @ S + products(q, k, between) @ u)
    return (since_start[..., -1, :, None] * S + transpose(until_end * k) @ u,), o


VARIANT = Variant(
    name="gated_delta_rule",
    title="Gated delta rule",
    summary="the delta rule with a scalar data-dependent decay",
    step=step,
    parallel=parallel,
    inputs=(QUERY, UNIT_KEY, VALUE, LOG_DECAY, BETA, SCALE),
    state=(MEMORY,),
    erase="decayed",
    constraints=(
        "C1  log_decay <= 0; log_decay = 0 throughout is the delta rule.",
        "C2  0 <= beta <= 2; with unit keys the erase then never enlarges the state.",
        "C3  beta_t = 0 only lets the state decay.",
        "C4  beta_t = 1 with a unit key stores v_t exactly: S_t^T k_t = v_t.",
        "C5  log_decay_t = -inf forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Gated Delta Networks: Improving Mamba2 with Delta Rule",
            "Yang, Kautz, Hatamizadeh",
            2024,
            "2412.06464",
            "equation (10), section 3.3 for chunks (version 3)",
        ),
    ),
    aliases={
        "ggml": "gated_delta_net, g per head (heads tiled; the state transposed)",
        "onnx": 'LinearAttention update_rule="gated_delta", decay per head',
        "fla": "gated_delta_rule",
        "transformers": "torch_chunk_gated_delta_rule",
    },
    used_by={
        "Qwen3-Next": "transformers qwen3_next",
        "Qwen3.5": "transformers qwen3_5",
        "Olmo Hybrid": "transformers olmo_hybrid",
    },
)
