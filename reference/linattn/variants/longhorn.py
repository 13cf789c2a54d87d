r"""Longhorn, exact: every token is stored as well as its weight asks, at the least change of the state.

.. math::

    S_t &= \arg\min_S \|S - S_{t-1}\|^2 + \| S^\top k_t - v_t \|^2_{\mathrm{diag}(\beta_t)} \\
        &= S_{t-1} + k_t \big( \epsilon_t \odot (v_t - S_{t-1}^\top k_t) \big)^\top,
           \qquad \epsilon_t = \frac{\beta_t}{1 + \beta_t |k_t|^2} \\
    o_t &= S_t^\top q_t

It is the delta rule with a strength for each value channel that is stable for keys of any length. The model and its
kernel drop what couples the key channels: see ``longhorn_diagonal``. beta comes after its sigmoid; there is no scale.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, outer, read, transpose
from linattn.inputs import BETA, KEY, MEMORY, QUERY, VALUE
from linattn.record import Source, Variant
from linattn.variants import delta_rule


def step(S, q, k, v, beta):
    """Liu et al., theorem 3.1, equation (6)."""
    retrieved = read(k, S)  # ERASE
    S = S + outer(k, strength(k, beta) * (v - retrieved))  # WRITE
    return (S,), read(q, S)  # READ


def strength(k, beta):
    """epsilon: what is left of beta beside |k|^2."""
    return beta / (1 + beta * dot(k, k))


def parallel(S, q, k, v, beta):
    """A delta rule for each value channel, (..., V, T, 1)."""
    rows, values, eps = transpose(S)[..., None], transpose(v)[..., None], transpose(strength(k, beta))[..., None]
    (rows,), o = delta_rule.parallel(rows, q[..., None, :, :], k[..., None, :, :], values, eps, 1)
    return (transpose(rows[..., 0]),), transpose(o[..., 0])


WEIGHT = replace(BETA, axes="T V", doc="weight of the error in each value channel", domain=(0, np.inf), neutral=None)
VARIANT = Variant(
    name="longhorn",
    title="Longhorn",
    summary="the delta rule whose strength is the exact solution of an online regression",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, WEIGHT),
    state=(MEMORY,),
    constraints=(
        "C1  beta >= 0; the erase then never enlarges the state, whatever the length of the key.",
        "C2  beta_t = 0 leaves the state as it is.",
        "C3  The state minimises |S - S_{t-1}|^2 + |S^T k - v|^2 weighted by beta.",
        "C4  beta constant over the value channels is the delta rule with beta / (1 + beta |k|^2).",
        "C5  As beta grows, S_t^T k_t tends to v_t.",
    ),
    sources=(
        Source(
            "Longhorn: State Space Models are Amortized Online Learners",
            "Liu, Wang, Wu, Feng, Stone, Liu",
            2024,
            "2407.14207",
            "equation (5), the objective, and theorem 3.1 with equation (6), its solution (version 5)",
        ),
    ),
)
