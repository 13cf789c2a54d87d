r"""Preconditioned gated delta rule (PGDN): the gated delta rule that writes less where keys have been large.

.. math::

    A_t &= \tilde\alpha_t A_{t-1} + \tilde\beta_t\, k_t \odot k_t, \qquad \tilde\alpha_t = e^{\tilde g_t} \\
    m_t &= x^{-r / (1 + |r|)}, \qquad r = \log (A_t + \epsilon) - c \\
    S_t &= \alpha_t S_{t-1} + \beta_t (m_t \odot k_t) (v_t - \alpha_t S_{t-1}^\top k_t)^\top,
           \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma\, S_t^\top q_t

The preconditioner m in (1/x, x) stands for the inverse of the diagonal of the keys' second moment. Decay comes first,
both states have gates of their own, and only the write is preconditioned: the erase reads with k. The paper has mu > 0
for c, B for m, no epsilon, and 1 <= x <= 2. Names of the authors' code: g_atk, beta_atk, log_atk_scale = c, of any
sign there. The layer normalises q and k before the operator.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, maximum, outer, read
from linattn.inputs import BETA, LOG_DECAY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Input, Source, State, Variant
from linattn.variants import dplr


def step(S, A, q, k, v, log_decay, beta, log_decay_atk, beta_atk, log_atk_scale, x, eps, scale):
    """Tumma et al., equation (9) with decay; ``naive_recurrent_precond_gated_delta_rule`` of their code."""
    A = np.exp(log_decay_atk) * A + beta_atk * k * k  # PRECONDITION
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    retrieved = read(k, S)  # ERASE
    S = S + outer(preconditioner(A, log_atk_scale, x, eps) * k, beta * (v - retrieved))  # WRITE
    return (S, A), scale * read(q, S)  # READ


def parallel(S, A, q, k, v, log_decay, beta, log_decay_atk, beta_atk, log_atk_scale, x, eps, scale):
    """The generalised delta rule, with the preconditioned keys where keys are written."""
    between, since_start, _ = decays(log_decay_atk)
    A = since_start * A[..., None, :] + between[..., 0] @ (beta_atk * k * k)  # (..., T, K)
    written = beta * preconditioner(A, log_atk_scale[..., None, :], x, eps) * k
    (S,), o = dplr.parallel(S, q, written, v, np.exp(log_decay) * k, -written, log_decay, scale)
    return (S, A[..., -1, :]), o


def preconditioner(A, log_atk_scale, x, eps):
    r = np.log(A + eps) - log_atk_scale
    return np.exp(-np.log(x) * r / (1 + maximum(r, -r)))


PARAMETERS = (
    replace(LOG_DECAY, name="log_decay_atk", doc="natural logarithm of the decay of A"),
    replace(BETA, name="beta_atk", doc="weight of the squared key in A", domain=(0, 1), neutral=None),
    Input("log_atk_scale", "1", "centre of the logarithm of A", heads="v", role="parameter", typical="mild"),
    Input("x", "", "bound of the preconditioner", domain=(1, np.inf), neutral=1, default=1.5, role="parameter"),
    Input("eps", "", "added to A", domain=(2.0**-126, np.inf), default=1e-6, role="parameter"),
    SCALE,
)
VARIANT = Variant(
    name="preconditioned_gated_delta_rule",
    title="Preconditioned gated delta rule",
    summary="the gated delta rule with writes preconditioned by the keys so far",
    step=step,
    parallel=parallel,
    inputs=(QUERY, UNIT_KEY, VALUE, LOG_DECAY, BETA, *PARAMETERS),
    state=(MEMORY, State("A", "K", "decayed sum of the squared keys", typical="positive")),
    erase="decayed",
    constraints=(
        "C1  log_decay <= 0 and log_decay_atk <= 0; A >= 0.",
        "C2  x = 1 is the gated delta rule.",
        "C3  The preconditioner lies between 1/x and x; it is 1 where A + eps = exp(log_atk_scale).",
        "C4  beta_t = 0 only lets S decay; A is still updated.",
        "C5  log_decay_t = -inf and log_decay_atk_t = -inf forget everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Preconditioned DeltaNet: Curvature-aware Sequence Modeling for Linear Recurrences",
            "Tumma, Loo, Rus",
            2026,
            "2604.21100",
            "equation (9), sections 3.4 and 3.5 for the decays, appendix F for chunks (version 1)",
        ),
    ),
    aliases={"fla": "precond_gated_delta_rule (g_atk = log_decay_atk)"},
)
