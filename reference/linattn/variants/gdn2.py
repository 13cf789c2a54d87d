r"""Gated DeltaNet-2: Kimi delta attention with an erase gate per key channel and a write gate per value channel.

.. math::

    S_t &= (I - k_t (b_t \odot k_t)^\top)\, \mathrm{diag}(\alpha_t)\, S_{t-1} + k_t (w_t \odot v_t)^\top,
           \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t

Decay comes first. The gates stand in [0, 1]; the paper has an option that doubles b, and b alone. Its queries and keys
have the length 1, and it has no scale (``scale=1``); K^-1/2 is that of fla.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import CHANNEL_LOG_DECAY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import dplr


def step(S, q, k, v, log_decay, b, w, scale):
    """Hatamizadeh, Choi, Kautz, equation (9): the gated delta rule-2."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    retrieved = read(b * k, S)  # ERASE
    S = S + outer(k, w * v - retrieved)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, b, w, scale):
    return dplr.parallel(S, q, k, w * v, np.exp(log_decay) * b * k, -k, log_decay, scale)


GATE = Input("b", "T K", "erase gate of each key channel", heads="k", domain=(0, 2), role="gate", typical="strength")

VARIANT = Variant(
    name="gdn2",
    title="Gated DeltaNet-2",
    summary="the delta rule with a decay and an erase gate per key channel and a write gate per value channel",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        UNIT_KEY,
        VALUE,
        CHANNEL_LOG_DECAY,
        GATE,
        replace(GATE, name="w", axes="T V", doc="write gate of each value channel", heads="v", domain=(0, 1)),
        SCALE,
    ),
    state=(MEMORY,),
    erase="decayed",
    constraints=(
        "C1  log_decay <= 0, 0 <= b <= 2 and 0 <= w <= 1.",
        "C2  b = w = beta in all channels is Kimi delta attention.",
        "C3  b = 0 throughout is gated linear attention with values w v.",
        "C4  b = w = 1 with a unit key stores v_t exactly: S_t^T k_t = v_t.",
        "C5  log_decay_t = -inf in all channels forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Gated DeltaNet-2: Decoupling Erase and Write in Linear Attention",
            "Hatamizadeh, Choi, Kautz",
            2026,
            "2605.22791",
            "(8)-(12), (18)-(25), sections 3.1, 3.3, D.2; (29)-(44)",
        ),
    ),
    aliases={"fla": "gdn2"},
)
