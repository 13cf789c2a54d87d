r"""HGRN2: gated linear attention whose keys are what its decays leave free.

.. math::

    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} + (1 - \alpha_t) v_t^\top, \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t

The paper's names: f = alpha for the forget gate, i = v for the input, o = q for the output gate, and h for the
transpose of S. Its lower bounds of the forget gate come before the operator. The paper has no scale (``scale=1``), fla
has K^-1/2.
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import CHANNEL_LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant
from linattn.variants import simple_gla


def step(S, q, v, log_decay, scale):
    """Qin et al. 2024, (3)."""
    alpha = np.exp(log_decay)
    S = alpha[..., :, None] * S  # DECAY
    S = S + outer(1 - alpha, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, v, log_decay, scale):
    return simple_gla.parallel(S, q, 1 - np.exp(log_decay), v, log_decay, scale)


VARIANT = Variant(
    name="hgrn2",
    title="HGRN2",
    summary="gated linear attention with keys 1 - decay",
    step=step,
    parallel=parallel,
    inputs=(QUERY, VALUE, CHANNEL_LOG_DECAY, SCALE),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0; log_decay_t = 0 in a channel writes nothing to it and forgets nothing.",
        "C2  It is gated linear attention with k = 1 - exp(log_decay).",
        "C3  log_decay = -inf in all channels of token t stores v_t in every row of the state, exactly.",
        "C4  Every row of the state is a weighted mean of the values and of its initial value.",
    ),
    sources=(
        Source(
            "HGRN2: Gated Linear RNNs with State Expansion",
            "Qin, Yang, Sun, Shen, Li, Sun, Zhong",
            2024,
            "2404.07904",
            "(3), section 3.2, table 4",
        ),
    ),
    aliases={"fla": "hgrn2 (layer), gla with k = 1 - exp(g)"},
)
