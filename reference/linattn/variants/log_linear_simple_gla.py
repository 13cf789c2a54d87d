r"""Log-linear attention over simple GLA: a memory for each power of two of the past, read with its own weight.

.. math::

    S_t^{(l)} &= \alpha_t \sum_{l'} C_t^{l l'} S_{t-1}^{(l')} \quad (l > 0),
        \qquad S_t^{(0)} = k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma \sum_l \lambda_t^{(l)}\, {S_t^{(l)}}^\top q_t

Level 0 is the token itself, level 1 + b the 2^b tokens of bit b in the number of those before it (a Fenwick tree).
C adds 1 to that number: level 0 is carried to level 1, and on while the level is taken. The state has the bits as
``taken``. This is the weak hierarchy of the authors' code, that of their paper and of fla; the strong one is
``strong_log_linear_simple_gla``. L levels hold 2^(L-1) tokens; the last level takes whatever is more. Paper and codes
have no scale (``scale=1``). The paper's weights are not negative; here they are any numbers.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, outer, products, read
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.levels import carried, over_levels, with_token
from linattn.record import Input, Source, State, Variant


def step(S, taken, q, k, v, log_decay, level_scale, scale):
    """Guo et al., ``HState`` of the authors' code: carry, decay, write to level 0, read all levels."""
    S, taken = carried(S, taken)
    S = np.exp(log_decay)[..., :, None, None] * S  # DECAY
    S = with_token(S, outer(k, v))  # WRITE
    return (S, taken), scale * read(q, np.einsum("...l,...lkv->...kv", level_scale, S))  # READ


def parallel(S, taken, q, k, v, log_decay, level_scale, scale):
    return closed_form(carried, S, taken, q, k, v, log_decay, level_scale, scale)


def closed_form(carry, S, counts, q, k, v, log_decay, level_scale, scale):
    """That of simple GLA, as scores, in levels among which ``carry`` moves the tokens."""
    between, since_start, until_end = decays(log_decay)
    seen, keys, moved = since_start * q, until_end * k, since_start[..., -1, :, None, None] * S
    scores = scale * products(q, k, between)
    return over_levels(carry, S, moved, counts, scores, scale * seen, keys, v, level_scale)


LEVELS = (
    replace(MEMORY, axes="L K V", doc="an associative memory for each level: keys are rows, values columns"),
    State("taken", "L", "1 where a level holds tokens, else 0", typical="zero"),
)
LEVEL_SCALE = Input("level_scale", "T L", "weight of each level in the read", heads="q", neutral=1, role="gate")
VARIANT = Variant(
    name="log_linear_simple_gla",
    title="Log-linear simple GLA",
    summary="simple GLA with a memory for each power of two of the past",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, LOG_DECAY, LEVEL_SCALE, SCALE),
    state=LEVELS,
    exempt=("neutral",),
    constraints=(
        "C1  log_decay <= 0; a sequence of T tokens needs L >= log2(T) + 1 levels for one bit each.",
        "C2  level_scale = 1 throughout is simple GLA, whose state is the sum over the levels.",
        "C3  level_scale = 0 but for level 0 reads the token itself: scale level_scale (q.k) v.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
        "C5  Counted from 0, token s < t is for token t in level 1 + b, b the highest bit in which s and t differ.",
    ),
    sources=(
        Source(
            "Log-Linear Attention",
            "Guo, Yang, Goel, Xing, Dao, Kim",
            2025,
            "2506.04761",
            "equations (2)-(4), sections 3.1, 3.3 (version 1); the weak hierarchy of the authors' code (HState)",
        ),
    ),
    aliases={"fla": "log_linear_attn (level_scales)", "hattention": "HType.WEAK, HStruct.MAMBA2"},
)
