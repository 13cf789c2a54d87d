r"""Generalised delta rule (DPLR): a diagonal plus low-rank transition, which reads and writes with free vectors.

.. math::

    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} + b_t (S_{t-1}^\top a_t)^\top + k_t v_t^\top,
           \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t

The erase reads the state before it decays, so that a decay of 0 does not forget all. Delta rules that decay first
are the case a = alpha k: their closed forms are this one. Names differ: the Kimi Team writes the transition
D - a b^T, where b reads; fla writes D + a b^T for its transposed state, and alpha and beta in its naive code.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, outer, products, read, transpose, unit_lower_solve
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, a, b, log_decay, scale):
    """Kimi Team, section 6.2, with a for their b and b for their -a."""
    retrieved = read(a, S)  # ERASE
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(b, retrieved) + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, a, b, log_decay, scale):
    """What the tokens retrieve solves a unit lower-triangular system; all else are weighted products. Listing 8a.

    Token t retrieves what is left of earlier writes after the decay of token t - 1.
    """
    between, since_start, until_end = decays(log_decay)
    earlier = np.concatenate([0 * between[..., :1, :, :], between[..., :-1, :, :]], axis=-3)
    kept = np.concatenate([1 + 0 * since_start[..., :1, :], since_start[..., :-1, :]], axis=-2)
    retrieved = unit_lower_solve(-products(a, b, earlier), (kept * a) @ S + products(a, k, earlier) @ v)
    o = (since_start * q) @ S + products(q, k, between) @ v + products(q, b, between) @ retrieved
    written = transpose(until_end * k) @ v + transpose(until_end * b) @ retrieved
    return (since_start[..., -1, :, None] * S + written,), scale * o


ERASE_READ = replace(KEY, name="a", doc="key with which the erase reads the memory", typical="unit")
ERASE_WRITE = replace(KEY, name="b", doc="key at which the erase writes what it has read", typical="short-unit")

VARIANT = Variant(
    name="dplr",
    title="Generalised delta rule (DPLR)",
    summary="a diagonal plus low-rank transition; the family of all delta rules",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, ERASE_READ, ERASE_WRITE, CHANNEL_LOG_DECAY, SCALE),
    state=(MEMORY,),
    erase="undecayed",
    constraints=(
        "C1  log_decay <= 0.",
        "C2  a = 0 or b = 0 is gated linear attention.",
        "C3  log_decay = 0 throughout is the identity plus low rank.",
        "C4  log_decay_t = -inf does not forget: token t still writes what it has retrieved.",
        "C5  b = -beta a with unit a and 0 <= beta <= 2 never enlarges the state.",
    ),
    sources=(
        Source(
            "Kimi Linear: An Expressive, Efficient Attention Architecture",
            "Kimi Team",
            2025,
            "2510.26692",
            "section 6.2, listing 8a for chunks (version 2)",
        ),
        Source(
            'RWKV-7 "Goose" with Expressive Dynamic State Evolution',
            "Peng et al.",
            2025,
            "2503.14456",
            "equations (17) and (19): the first of the family (version 2)",
        ),
    ),
    aliases={"ggml": "rwkv_wkv7 (w = exp(log_decay))", "fla": "dplr_delta_rule", "rwkv": "wkv7(r, w, k, v, a, b)"},
)
