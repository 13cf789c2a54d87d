r"""Log-linear attention over the gated delta rule: all memories decay and are corrected, level 0 takes the write.

.. math::

    S_t^{(l)} &= \alpha_t (I - \beta_t k_t k_t^\top) \sum_{l'} C_t^{l l'} S_{t-1}^{(l')} \quad (l > 0),
        \qquad S_t^{(0)} = \beta_t k_t v_t^\top \\
    o_t &= \sigma \sum_l \lambda_t^{(l)}\, {S_t^{(l)}}^\top q_t

The levels and C are those of log-linear simple GLA; the sum of all memories is that of the gated delta rule. The
paper leaves out beta for brevity, except in appendix A. The authors' code decays first, as here; neither has a scale
(``scale=1``).
"""

import numpy as np

from linattn.algebra import decays, outer, products, read, transpose, unit_lower_solve
from linattn.inputs import BETA, LOG_DECAY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.levels import carried, over_levels, with_token
from linattn.record import Source, Variant
from linattn.variants.log_linear_simple_gla import LEVEL_SCALE, LEVELS


def step(S, taken, q, k, v, log_decay, beta, level_scale, scale):
    """Guo et al., ``HState`` of the authors' code with the gate of the gated delta rule."""
    S, taken = carried(S, taken)
    S = np.exp(log_decay)[..., :, None, None] * S  # DECAY
    retrieved = read(k[..., None, :], S)
    S = S - outer(k[..., None, :], beta[..., None, :] * retrieved)  # ERASE
    S = with_token(S, outer(k, beta * v))  # WRITE
    return (S, taken), scale * read(q, np.einsum("...l,...lkv->...kv", level_scale, S))  # READ


def parallel(S, taken, q, k, v, log_decay, beta, level_scale, scale):
    return closed_form(carried, S, taken, q, k, v, log_decay, beta, level_scale, scale)


def closed_form(carry, S, counts, q, k, v, log_decay, beta, level_scale, scale):
    """The closed form of the gated delta rule, as scores: what a token reads of each write, and of the start."""
    between, since_start, until_end = decays(log_decay)
    corrections = unit_lower_solve(
        beta * np.tril(products(k, k, between), -1), beta * np.eye(k.shape[-2], dtype=np.int8)
    )
    scores = products(q, k, between) @ corrections
    queries = since_start * q - scores @ (since_start * k)
    keys = transpose(corrections) @ (until_end * k)
    erased = (transpose(keys) @ (since_start * k))[..., None, :, :] @ S
    moved = since_start[..., -1, :, None, None] * S - erased
    return over_levels(carry, S, moved, counts, scale * scores, scale * queries, keys, v, level_scale)


VARIANT = Variant(
    name="log_linear_gated_delta_rule",
    title="Log-linear gated delta rule",
    summary="the gated delta rule with a memory for each power of two of the past",
    step=step,
    parallel=parallel,
    inputs=(QUERY, UNIT_KEY, VALUE, LOG_DECAY, BETA, LEVEL_SCALE, SCALE),
    state=LEVELS,
    erase="decayed",
    exempt=("neutral",),
    constraints=(
        "C1  log_decay <= 0 and 0 <= beta <= 2.",
        "C2  level_scale = 1 throughout is the gated delta rule, whose state is the sum over the levels.",
        "C3  beta_t = 0 only lets the state decay and move.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Log-Linear Attention",
            "Guo, Yang, Goel, Xing, Dao, Kim",
            2025,
            "2506.04761",
            "equation (4), sections 3.1, 3.3, appendix A (version 1); HState of the authors' code",
        ),
    ),
    aliases={"hattention": "HType.WEAK, HStruct.GDELTA"},
)
