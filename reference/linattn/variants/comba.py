r"""Comba: the gated delta rule with a scalar plus low-rank transition, whose erase has a key of its own.

.. math::

    S_t &= \alpha_t S_{t-1} + \beta_t k_t (v_t - S_{t-1}^\top p_t)^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma\, S_t^\top q_t

The paper's erase is p = k times a factor, beta-tilde / beta. Its output correction, q - d k in place of q, comes
before the operator. The erase reads the undecayed state: so do the paper, its closed form and the kernels of fla,
but not fla's ``naive_recurrent_comba``, which decays first and is thereby the case alpha p. The paper has no scale
(``scale=1``) and writes the state transposed.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import BETA, LOG_DECAY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Source, Variant
from linattn.variants import dplr


def step(S, q, k, v, p, log_decay, beta, scale):
    """Hu et al., equation (5)."""
    retrieved = read(p, S)  # ERASE
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, beta * (v - retrieved))  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, p, log_decay, beta, scale):
    return dplr.parallel(S, q, beta * k, v, p, -beta * k, log_decay, scale)


VARIANT = Variant(
    name="comba",
    title="Comba",
    summary="the delta rule with a scalar decay, an erase key of its own and an erase of the undecayed state",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        UNIT_KEY,
        VALUE,
        replace(UNIT_KEY, name="p", doc="key of the erase: k times a factor in the paper", typical="short-unit"),
        LOG_DECAY,
        BETA,
        SCALE,
    ),
    state=(MEMORY,),
    erase="undecayed",
    constraints=(
        "C1  log_decay <= 0.",
        "C2  0 <= beta <= 2; beta_t = 0 only lets the state decay.",
        "C3  p = k and log_decay = 0 throughout is the delta rule.",
        "C4  p = 0 is simple GLA with keys beta k.",
        "C5  p = alpha k is the gated delta rule; p = k is not.",
        "C6  log_decay_t = -inf does not forget: token t still erases what it has retrieved.",
    ),
    sources=(
        Source(
            "Comba: Improving Bilinear RNNs with Closed-loop Control",
            "Hu et al.",
            2025,
            "2506.02475",
            "equation (5), equations (9)-(12) for chunks, as in the repository of the authors",
        ),
    ),
    aliases={"fla": "comba"},
)
