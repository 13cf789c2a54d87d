r"""Lightning attention (TransNormer): linear attention that forgets at a fixed rate per head and layer.

.. math::

    S_t &= \lambda S_{t-1} + k_t v_t^\top, \qquad \lambda = e^g \\
    o_t &= \sigma\, S_t^\top q_t

The recurrence is that of retention; what differs is the rates, on which the field disagrees, in ``linattn.slopes``.
The authors' code and MiniMax take the slopes of ALiBi (``alibi_log_decay``), fla takes slopes linear in the head, of
which the first never decays (``linear_log_decay``). The norm after it is outside. The paper has no scale
(``scale=1``), fla has K^-1/2.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant
from linattn.variants import retention


def step(S, q, k, v, log_decay, scale):
    """Qin et al. 2024, equation (4)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


VARIANT = Variant(
    name="lightning_attention",
    title="Lightning attention",
    summary="linear attention with a fixed decay per head and layer",
    step=step,
    parallel=retention.parallel,
    inputs=(
        replace(QUERY, doc="query, after its activation"),
        replace(KEY, doc="key, after its activation"),
        VALUE,
        retention.VARIANT.input("log_decay"),
        SCALE,
    ),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0; log_decay = 0, a head of the linear slopes, is linear attention.",
        "C2  With the same log_decay it is retention.",
        "C3  The slopes of ALiBi halve from head to head where there are 8 heads; the last layer hardly decays.",
    ),
    sources=(
        Source(
            "Lightning Attention-2: A Free Lunch for Handling Unlimited Sequence Lengths in Large Language Models",
            "Qin, Sun, Li, Shen, Sun, Zhong",
            2024,
            "2401.04658",
            "equations (3)-(5), (6)-(10) for chunks, algorithm 1",
        ),
    ),
    aliases={
        "fla": "lightning_attn (linear_log_decay)",
        "lightning_attn": "lightning_attn_func (s = -log_decay)",
        "transformers": "MiniMaxLightningAttention (alibi_log_decay, scale=1)",
        "llama.cpp": "minimax-01, a graph of its own (alibi_log_decay, scale=1)",
    },
    used_by={"MiniMax-Text-01": "transformers minimax", "Ring-mini-linear-2.0": "mlx-lm bailing_moe_linear"},
)
