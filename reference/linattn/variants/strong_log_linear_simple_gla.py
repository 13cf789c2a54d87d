r"""Log-linear attention over simple GLA with the strong hierarchy: the nearest tokens have levels of their own.

.. math::

    S_t^{(l)} &= \alpha_t \sum_{l'} C_t^{l l'} S_{t-1}^{(l')} \quad (l > 0),
        \qquad S_t^{(0)} = k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma \sum_l \lambda_t^{(l)}\, {S_t^{(l)}}^\top q_t

Only C is another than in ``log_linear_simple_gla``. Level 1 holds one token, level l > 1 one or two halves of 2^(l-2)
tokens: a level with two hands on both and keeps what comes from below as its first half. So level 1 always holds the
token before, and no level is empty again once it held something. The state has the number of halves as ``halves``
(levels 0 and 1: 0 or 1). The authors' kernels have both hierarchies, their models take the weak one; neither has a
scale (``scale=1``). Their paper has the strong one in pictures, without a formula.
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.levels import carried_by_halves, with_token
from linattn.record import Source, State, Variant
from linattn.variants import log_linear_simple_gla


def step(S, halves, q, k, v, log_decay, level_scale, scale):
    """Guo et al., ``HState.cascade_strong`` of the authors' code: carry, decay, write to level 0, read all levels."""
    S, halves = carried_by_halves(S, halves)
    S = np.exp(log_decay)[..., :, None, None] * S  # DECAY
    S = with_token(S, outer(k, v))  # WRITE
    return (S, halves), scale * read(q, np.einsum("...l,...lkv->...kv", level_scale, S))  # READ


def parallel(S, halves, q, k, v, log_decay, level_scale, scale):
    return log_linear_simple_gla.closed_form(carried_by_halves, S, halves, q, k, v, log_decay, level_scale, scale)


HALVES = State("halves", "L", "how many halves of itself a level holds: 0, 1 or 2", typical="zero")
VARIANT = Variant(
    name="strong_log_linear_simple_gla",
    title="Strong log-linear simple GLA",
    summary="simple GLA with a memory for each power of two of the past, finer for the nearest tokens",
    step=step,
    parallel=parallel,
    inputs=log_linear_simple_gla.VARIANT.inputs,
    state=(log_linear_simple_gla.LEVELS[0], HALVES),
    exempt=("neutral",),
    constraints=(
        "C1  log_decay <= 0; a sequence of T tokens needs L >= log2(T) + 1 levels for what the levels hold at most.",
        "C2  level_scale = 1 throughout is simple GLA, whose state is the sum over the levels.",
        "C3  level_scale = 0 but for levels 0 and 1 reads the token itself and the one before.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
        "C5  The first two tokens are read as in the weak hierarchy, the third is not.",
    ),
    sources=(
        Source(
            "Log-Linear Attention",
            "Guo, Yang, Goel, Xing, Dao, Kim",
            2025,
            "2506.04761",
            "appendix B.4, figures 9, 10 (version 1); HState.cascade_strong of the authors' code",
        ),
    ),
    aliases={"hattention": "HType.STRONG, HStruct.MAMBA2"},
)
