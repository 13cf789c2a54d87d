r"""Gated random feature attention (RFA-Gate): a weighted mean of the values in which old ones fade.

.. math::

    S_t &= \alpha_t S_{t-1} + (1 - \alpha_t) k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    z_t &= \alpha_t z_{t-1} + (1 - \alpha_t) k_t \\
    o_t &= \frac{S_t^\top q_t}{z_t^\top q_t + \epsilon}

q and k come after their random features, which are signed: the denominator can vanish. The write has the factor
1 - alpha, which simple GLA lacks, and the normaliser decays like the memory. The gate, g in the paper, is a sigmoid of
the input. The paper has no eps. Nor has the authors' code: it clamps the denominator from below, at 1 in one version
and at 0.01 in a later use of it.
"""

import numpy as np

from linattn.algebra import dot, outer, read
from linattn.inputs import LOG_DECAY, VALUE
from linattn.record import Source, Variant
from linattn.variants import normalised_linear_attention, simple_gla


def step(S, z, q, k, v, log_decay, eps):
    """Peng et al., (7), read as in (6); ``incremental_rfa`` of the authors' code with g0 = alpha."""
    alpha = np.exp(log_decay)
    S = alpha[..., :, None] * S + outer((1 - alpha) * k, v)  # DECAY, WRITE
    z = alpha * z + (1 - alpha) * k
    return (S, z), read(q, S) / (dot(q, z) + eps)  # READ


def parallel(S, z, q, k, v, log_decay, eps):
    return weighted_mean(S, z, q, (1 - np.exp(log_decay)) * k, v, log_decay, eps)


def weighted_mean(S, z, q, k, v, log_decay, eps):
    """Simple GLA over the mean of its weights: the normaliser is the sum of one more value, which is 1."""
    ones = np.concatenate([v, 1 + 0 * v[..., :1]], axis=-1)
    start = np.concatenate([S, z[..., :, None]], axis=-1)
    (final,), o = simple_gla.parallel(start, q, k, ones, log_decay, 1)
    return (final[..., :-1], final[..., -1]), o[..., :-1] / (o[..., -1:] + eps)


VARIANT = Variant(
    name="gated_rfa",
    title="Gated random feature attention",
    summary="a weighted mean of all values so far, with weights q.k that decay",
    step=step,
    parallel=parallel,
    inputs=(
        *normalised_linear_attention.VARIANT.inputs[:2],
        VALUE,
        LOG_DECAY,
        normalised_linear_attention.VARIANT.input("eps"),
    ),
    state=normalised_linear_attention.VARIANT.state,
    constraints=(
        "C1  log_decay <= 0; log_decay_t = 0 leaves state and normaliser as they are.",
        "C2  One value throughout, from the empty state and with eps = 0, is returned wherever z.q is not 0.",
        "C3  With non-negative features and eps = 0 the output lies in the convex hull of the values seen.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly; with eps = 0 the output is v_t.",
        "C5  With eps = 0 it is simple GLA on keys (1 - alpha) k, divided by itself on values 1.",
    ),
    sources=(
        Source(
            "Random Feature Attention",
            "Peng, Pappas, Yogatama, Schwartz, Smith, Kong",
            2021,
            "2103.02143",
            "equations (6) and (7), section 3.2, algorithm 1 in appendix A.1",
        ),
    ),
    aliases={"RFA": "incremental_rfa(g0=alpha)"},
)
