r"""Log-linear attention over the gated delta rule with the strong hierarchy of levels.

.. math::

    S_t^{(l)} &= \alpha_t (I - \beta_t k_t k_t^\top) \sum_{l'} C_t^{l l'} S_{t-1}^{(l')} \quad (l > 0),
        \qquad S_t^{(0)} = \beta_t k_t v_t^\top \\
    o_t &= \sigma \sum_l \lambda_t^{(l)}\, {S_t^{(l)}}^\top q_t

The levels and C are those of ``strong_log_linear_simple_gla``, all else that of ``log_linear_gated_delta_rule``. The
authors' code decays first, as here, and has no scale (``scale=1``).
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.levels import carried_by_halves, with_token
from linattn.record import Source, Variant
from linattn.variants import log_linear_gated_delta_rule, strong_log_linear_simple_gla


def step(S, halves, q, k, v, log_decay, beta, level_scale, scale):
    """Guo et al., ``HState.cascade_strong`` of the authors' code with the gate of the gated delta rule."""
    S, halves = carried_by_halves(S, halves)
    S = np.exp(log_decay)[..., :, None, None] * S  # DECAY
    retrieved = read(k[..., None, :], S)
    S = S - outer(k[..., None, :], beta[..., None, :] * retrieved)  # ERASE
    S = with_token(S, outer(k, beta * v))  # WRITE
    return (S, halves), scale * read(q, np.einsum("...l,...lkv->...kv", level_scale, S))  # READ


def parallel(S, halves, q, k, v, log_decay, beta, level_scale, scale):
    of_levels = log_linear_gated_delta_rule.closed_form
    return of_levels(carried_by_halves, S, halves, q, k, v, log_decay, beta, level_scale, scale)


VARIANT = Variant(
    name="strong_log_linear_gated_delta_rule",
    title="Strong log-linear gated delta rule",
    summary="the gated delta rule with a memory for each power of two of the past, finer for the nearest tokens",
    step=step,
    parallel=parallel,
    inputs=log_linear_gated_delta_rule.VARIANT.inputs,
    state=strong_log_linear_simple_gla.VARIANT.state,
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
            "appendices A, B.4, figures 9, 10 (version 1); HState.cascade_strong of the authors' code",
        ),
    ),
    aliases={"hattention": "HType.STRONG, HStruct.GDELTA"},
)
