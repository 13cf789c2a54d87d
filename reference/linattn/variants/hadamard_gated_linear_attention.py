r"""Linear attention with a full Hadamard gate: every entry of the memory has its own data-dependent decay.

.. math::

    S_t &= G_t \odot S_{t-1} + k_t v_t^\top, \qquad G_t = e^{g_t} \in [0, 1]^{K \times V} \\
    o_t &= \sigma\, S_t^\top q_t

All elementwise forgetting is a special case: G = alpha 1^T is gated linear attention, G = exp(A^T dt) Mamba. Only
these leave a matrix of scores. The full gate would need one for every entry, so that ``parallel`` computes all
states by an associative scan. The papers have no scale (``scale=1``).
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read, scan
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, log_decay, scale):
    """Yang et al. 2023, section 4.1, the recurrence with the gate G."""
    S = np.exp(log_decay) * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, scale):
    """Gu and Dao 2023, section 3.3.2: the parallel scan."""
    decayed, written = scan(np.exp(log_decay), outer(k, v), axis=-3)
    states = decayed * S[..., None, :, :] + written
    return (states[..., -1, :, :],), scale * read(q, states)


VARIANT = Variant(
    name="hadamard_gated_linear_attention",
    title="Linear attention with a full Hadamard gate",
    summary="linear attention with a data-dependent decay per entry of the memory",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        KEY,
        VALUE,
        replace(LOG_DECAY, axes="T K V", doc="natural logarithm of the decay of each entry of the memory"),
        SCALE,
    ),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0; log_decay = 0 throughout is linear attention.",
        "C2  log_decay constant over the value channels is gated linear attention.",
        "C3  log_decay = -inf in all entries of token t forgets everything before it, exactly.",
        "C4  One value channel needs no other: it is gated linear attention with its own decays.",
    ),
    sources=(
        Source(
            "Gated Linear Attention Transformers with Hardware-Efficient Training",
            "Yang, Wang, Shen, Panda, Kim",
            2023,
            "2312.06635",
            "section 4.1, before equation (3): the gate G (version 6)",
        ),
        Source(
            "Mamba: Linear-Time Sequence Modeling with Selective State Spaces",
            "Gu, Dao",
            2023,
            "2312.00752",
            "section 3.3.2: the scan (version 2)",
        ),
    ),
)
