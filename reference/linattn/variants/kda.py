r"""Kimi delta attention (KDA): the gated delta rule with a decay per key channel.

.. math::

    S_t &= (I - \beta_t k_t k_t^\top)\, \mathrm{diag}(\alpha_t)\, S_{t-1} + \beta_t k_t v_t^\top,
           \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t

Decay comes first. The closed form is that of the gated delta rule with a decay of width K. Equation (1) has no
scale (``scale=1``), the paper's listing 1 has K^-1/2. As printed, its products of decays from i to r include the
decay of token i (section 2.1); equations (3), (8) and (16) hold with it excluded, as here and in listing 1.
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import BETA, CHANNEL_LOG_DECAY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Source, Variant
from linattn.variants.gated_delta_rule import parallel


def step(S, q, k, v, log_decay, beta, scale):
    """Kimi Team, equation (1)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S - outer(beta * k, read(k, S))  # ERASE
    S = S + outer(beta * k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


VARIANT = Variant(
    name="kda",
    title="Kimi delta attention",
    summary="the delta rule with a data-dependent decay per key channel",
    step=step,
    parallel=parallel,
    inputs=(QUERY, UNIT_KEY, VALUE, CHANNEL_LOG_DECAY, BETA, SCALE),
    state=(MEMORY,),
    erase="decayed",
    constraints=(
        "C1  log_decay <= 0; constant over the channels it is the gated delta rule.",
        "C2  0 <= beta <= 2; with unit keys the erase then never enlarges the state.",
        "C3  beta_t = 0 only lets the state decay.",
        "C4  beta_t = 1 with a unit key stores v_t exactly: S_t^T k_t = v_t.",
        "C5  log_decay_t = -inf in all channels forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Kimi Linear: An Expressive, Efficient Attention Architecture",
            "Kimi Team",
            2025,
            "2510.26692",
            "equation (1), equations (2)-(9) for chunks (version 2)",
        ),
    ),
    aliases={
        "ggml": "gated_delta_net, g per key channel (heads tiled; the state transposed)",
        "onnx": 'LinearAttention update_rule="gated_delta", decay per key',
        "fla": "kda",
        "transformers": "chunk_kimi_delta_attention",
    },
    used_by={
        "Kimi Linear": "transformers kimi_linear",
        "Kimi-K3": "mlx-lm kimi_k3",
        "GLM-5.3-Flash": "transformers glm5_next",
        "Ling 3.0": "transformers bailing_hybrid",
    },
)
