r"""RWKV-5 (Eagle): RWKV-6 with a decay per key channel that is the same at every token.

.. math::

    o_t &= \sigma\, \big( S_{t-1} + \mathrm{diag}(u)\, k_t v_t^\top \big)^\top q_t \\
    S_t &= \mathrm{diag}(\alpha) S_{t-1} + k_t v_t^\top, \qquad \alpha = e^g \in [0, 1]^K

The paper's names: r = q, w = alpha with g = -exp(omega). The read is exclusive. The paper has no scale, which is the
default 1.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, MEMORY, QUERY, VALUE
from linattn.record import Source, Variant
from linattn.variants import rwkv6


def step(S, q, k, v, log_decay, u, scale):
    """Peng et al. 2024, equations (8) and (9)."""
    o = scale * read(q, S + outer(u * k, v))  # READ
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), o


def parallel(S, q, k, v, log_decay, u, scale):
    """The same decay at every token."""
    return rwkv6.parallel(S, q, k, v, np.repeat(log_decay[..., None, :], k.shape[-2], axis=-2), u, scale)


VARIANT = Variant(
    name="rwkv5",
    title="RWKV-5",
    summary="linear attention with a fixed decay per key channel, an exclusive read and a bonus",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        KEY,
        VALUE,
        replace(CHANNEL_LOG_DECAY, axes="K", role="parameter"),
        rwkv6.BONUS,
        rwkv6.UNIT_SCALE,
    ),
    state=(MEMORY,),
    read="exclusive",
    constraints=(
        "C1  log_decay <= 0.",
        "C2  The states, decay constant over the channels, are those of retention.",
        "C3  u = 0 makes it strictly causal: a token does not see itself.",
        "C4  u = 1 and log_decay = 0 is linear attention.",
        "C5  It is RWKV-6 with the same decay at every token.",
    ),
    sources=(
        Source(
            "Eagle and Finch: RWKV with Matrix-Valued States and Dynamic Recurrence",
            "Peng et al.",
            2024,
            "2404.05892",
            "equations (5), (6), (8) and (9)",
        ),
    ),
    aliases={"rwkv": "wkv5 (log_decay = -exp(w))"},
)
