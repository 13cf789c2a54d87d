r"""RWKV-6 (Finch): gated linear attention that reads before it forgets, with a bonus for the token itself.

.. math::

    o_t &= \sigma\, \big( S_{t-1} + \mathrm{diag}(u)\, k_t v_t^\top \big)^\top q_t \\
    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} + k_t v_t^\top, \qquad \alpha_t = e^{g_t} \in [0, 1]^K

The paper's names: r = q for the receptance, w = alpha with g = -exp(d). The read is exclusive: a token sees the state
before its own decay and write. The norm and the output gate are outside. The paper and its kernels have no scale,
which is the default 1; fla takes g and has K^-1/2.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, dot, outer, products, read, transpose
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Input, Source, Variant


def step(S, q, k, v, log_decay, u, scale):
    """Peng et al. 2024, equations (21) and (22)."""
    o = scale * read(q, S + outer(u * k, v))  # READ
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), o


def parallel(S, q, k, v, log_decay, u, scale):
    """Equation (19): the decays of gated linear attention, seen one token earlier."""
    between, since_start, until_end = decays(log_decay)
    earlier = np.concatenate([0 * between[..., :1, :, :], between[..., :-1, :, :]], axis=-3)
    kept = np.concatenate([1 + 0 * since_start[..., :1, :], since_start[..., :-1, :]], axis=-2)
    o = (kept * q) @ S + products(q, k, earlier) @ v + dot(u[..., None, :] * q, k) * v
    return (since_start[..., -1, :, None] * S + transpose(until_end * k) @ v,), scale * o


UNIT_SCALE = replace(SCALE, default=1, neutral=1)
BONUS = Input("u", "K", "bonus of the token itself in each key channel", heads="k", role="parameter")

VARIANT = Variant(
    name="rwkv6",
    title="RWKV-6",
    summary="gated linear attention with an exclusive read and a bonus for the token itself",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, CHANNEL_LOG_DECAY, BONUS, UNIT_SCALE),
    state=(MEMORY,),
    read="exclusive",
    constraints=(
        "C1  log_decay <= 0.",
        "C2  The states are those of gated linear attention.",
        "C3  u = 0 makes it strictly causal: a token does not see itself.",
        "C4  u = 1 and log_decay = 0 throughout is linear attention.",
        "C5  log_decay = -inf in all channels of token t hides everything before t from all tokens after t, exactly.",
        "C6  Token t itself still sees what its own decay forgets.",
    ),
    sources=(
        Source(
            "Eagle and Finch: RWKV with Matrix-Valued States and Dynamic Recurrence",
            "Peng et al.",
            2024,
            "2404.05892",
            "equations (18), (19), (21) and (22)",
        ),
    ),
    aliases={"ggml": "rwkv_wkv6 (td = exp(log_decay), tf = u)", "fla": "rwkv6", "rwkv": "wkv6 (log_decay = -exp(w))"},
    used_by={"RWKV-6": "llama.cpp rwkv6"},
)
