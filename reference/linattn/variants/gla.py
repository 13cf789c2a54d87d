r"""Gated linear attention (GLA): every key channel has its own data-dependent decay.

.. math::

    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} + k_t v_t^\top, \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t

The closed form is that of simple GLA with a decay of width K. The paper has no scale (``scale=1``).
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant
from linattn.variants.simple_gla import parallel


def step(S, q, k, v, log_decay, scale):
    """Yang et al. 2023, equation (3)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


VARIANT = Variant(
    name="gla",
    title="Gated linear attention",
    summary="linear attention with a data-dependent decay per key channel",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, CHANNEL_LOG_DECAY, SCALE),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  log_decay constant over the channels is simple GLA.",
        "C3  log_decay = -inf in all channels of token t forgets everything before it, exactly.",
    ),
    sources=(
        Source(
            "Gated Linear Attention Transformers with Hardware-Efficient Training",
            "Yang, Wang, Shen, Panda, Kim",
            2023,
            "2312.06635",
            "equations (3) and (4), section 4.2 for chunks (version 6)",
        ),
    ),
    aliases={
        "ggml": "gated_linear_attn (g = exp(log_decay))",
        "onnx": 'LinearAttention update_rule="gated", decay per key',
        "fla": "gla",
    },
    used_by={"QRWKV6": "llama.cpp rwkv6qwen2"},
)
