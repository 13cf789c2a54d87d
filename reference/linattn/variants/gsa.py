r"""Gated slot attention (GSA): softmax attention over M slots, whose keys and values are decaying memories.

.. math::

    \tilde K_t &= \mathrm{diag}(\alpha_t) \tilde K_{t-1} + s_t k_t^\top, \qquad \alpha_t = e^{g_t} \in [0, 1]^M \\
    \tilde V_t &= \mathrm{diag}(\alpha_t) \tilde V_{t-1} + s_t v_t^\top \\
    o_t &= \tilde V_t^\top \mathrm{softmax}(\sigma\, \tilde K_t q_t)

In the paper s = 1 - alpha, and there is no scale; as in the authors' kernels s is an input of its own. A slot to which
nothing was written has score 0 and value 0: it takes part in the softmax.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, outer, read, transpose
from linattn.families import softmax, weighted
from linattn.inputs import KEY, LOG_DECAY, QUERY, SCALE, VALUE
from linattn.record import Input, Source, State, Variant


def step(keys, values, q, k, v, log_decay, s, scale):
    """Zhang et al. 2024, equation (6), with s for 1 - alpha."""
    alpha = np.exp(log_decay)[..., :, None]
    keys = alpha * keys + outer(s, k)  # DECAY, WRITE
    values = alpha * values + outer(s, v)
    return (keys, values), read(softmax(scale * read(q, transpose(keys))), values)  # READ


def parallel(keys, values, q, k, v, log_decay, s, scale):
    between, since_start, _ = decays(log_decay)
    return two_passes(keys, values, q, k, v, between * s[..., None, :, :], since_start, scale)


def two_passes(keys, values, q, k, v, weights, kept, scale):
    """Scores of all slots, then their values. ``weights`` (..., T, T, M): of token s in slot m at token t."""
    scores = kept * (q @ transpose(keys)) + np.einsum("...ts,...tsm->...tm", q @ transpose(k), weights)
    values, o = weighted(values, softmax(scale * scores), v, weights, kept)
    return (kept[..., -1, :, None] * keys + transpose(weights[..., -1, :, :]) @ k, values), o


SLOT_KEYS = State("keys", "M K", "the key of each slot")
SLOT_VALUES = State("values", "M V", "the value of each slot")
VARIANT = Variant(
    name="gsa",
    title="Gated slot attention",
    summary="softmax attention over a fixed number of slots with decaying keys and values",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        KEY,
        VALUE,
        replace(LOG_DECAY, axes="T M", doc="natural logarithm of the decay of each slot"),
        Input("s", "T M", "writing strength in each slot", heads="v", domain=(0, 1), role="gate", typical="strength"),
        SCALE,
    ),
    state=(SLOT_KEYS, SLOT_VALUES),
    exact="output and state, with exp and max as any functions of their arguments",
    exempt=("scale",),
    constraints=(
        "C1  log_decay <= 0; s = 1 - exp(log_decay) is that of the layer.",
        "C2  s_t = 0 only lets the slots decay.",
        "C3  With one slot the output does not depend on q.",
        "C4  log_decay = -inf and s = 1 in all slots of token t return v_t.",
        "C5  A slot for each token, written once, is softmax attention where all slots have been written.",
    ),
    sources=(
        Source(
            "Gated Slot Attention for Efficient Linear-Time Sequence Modeling",
            "Zhang et al.",
            2024,
            "2409.07146",
            "sections 3.2 and 3.3, equations (2), (6), (7); s and the scale as in the authors' naive_recurrent_gsa",
        ),
    ),
    aliases={"fla": "gsa"},
)
