r"""Preconditioned Kimi delta attention (PKDA): the preconditioned gated delta rule with a decay per key channel.

.. math::

    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} +
           \beta_t (m_t \odot k_t) (v_t - S_{t-1}^\top \mathrm{diag}(\alpha_t) k_t)^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma\, S_t^\top q_t

The preconditioner m and its state A are those of the preconditioned gated delta rule, whose closed form this is with
a decay of width K. A decays with a gate of its own, of width one.
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import BETA, CHANNEL_LOG_DECAY, QUERY, UNIT_KEY, VALUE
from linattn.record import Variant
from linattn.variants import preconditioned_gated_delta_rule as pgdn
from linattn.variants.preconditioned_gated_delta_rule import parallel, preconditioner


def step(S, A, q, k, v, log_decay, beta, log_decay_atk, beta_atk, log_atk_scale, x, eps, scale):
    """Tumma et al., equation (9) with a diagonal decay; ``naive_recurrent_precond_kda`` of their code."""
    A = np.exp(log_decay_atk) * A + beta_atk * k * k  # PRECONDITION
    written = preconditioner(A, log_atk_scale, x, eps) * k
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(beta * written, v - read(k, S))  # ERASE, WRITE
    return (S, A), scale * read(q, S)  # READ


VARIANT = Variant(
    name="preconditioned_kda",
    title="Preconditioned Kimi delta attention",
    summary="the delta rule with a decay per key channel and writes preconditioned by the keys so far",
    step=step,
    parallel=parallel,
    inputs=(QUERY, UNIT_KEY, VALUE, CHANNEL_LOG_DECAY, BETA, *pgdn.PARAMETERS),
    state=pgdn.VARIANT.state,
    erase="decayed",
    constraints=(
        "C1  log_decay <= 0 and log_decay_atk <= 0; A >= 0.",
        "C2  x = 1 is Kimi delta attention.",
        "C3  log_decay constant over the channels is the preconditioned gated delta rule.",
        "C4  beta_t = 0 only lets S decay; A is still updated.",
    ),
    sources=pgdn.VARIANT.sources,
    aliases={"fla": "precond_kda (g_atk = log_decay_atk)"},
)
