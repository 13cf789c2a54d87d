r"""Titans with a linear memory: gradient descent on the error of recall, with momentum and weight decay.

.. math::

    R_t &= \eta_t R_{t-1} + \theta_t\, k_t (v_t - S_{t-1}^\top k_t)^\top, \qquad \eta_t = e^{h_t} \\
    S_t &= \alpha_t S_{t-1} + R_t, \qquad \alpha_t = e^{g_t} \\
    o_t &= S_t^\top q_t

The paper's names: M = S for the memory, S = R for the momentum ("surprise"), 1 - alpha for what is alpha here. The
loss is half the squared error, so that eta = 0 is the delta rule with beta = theta. With the paper's equation (12),
which has no half, theta counts twice; its equation (17) again has the gradient without the 2. The error is that of
the undecayed memory. fla's ``momentum_delta_rule`` is this with p = k; its ``titans_linear`` has a normalisation
inside the loss, targets v - k and gradients at the start of a chunk.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, outer, read, transpose, unit_lower_solve
from linattn.inputs import BETA, LOG_DECAY, MEMORY, QUERY, UNIT_KEY, VALUE
from linattn.record import Source, State, Variant


def step(S, R, q, k, v, log_decay, log_momentum, theta):
    """Behrouz et al., equations (13), (14) and (15) with M(k) = S^T k."""
    error = theta * (v - read(k, S))  # ERASE
    R = np.exp(log_momentum)[..., :, None] * R + outer(k, error)  # WRITE
    S = np.exp(log_decay)[..., :, None] * S + R  # DECAY
    return (S, R), read(q, S)  # READ


def parallel(S, R, q, k, v, log_decay, log_momentum, theta):
    """The errors solve a unit lower-triangular system: a token decays as momentum, then as memory, at every time."""
    memory, memory_start, _ = decays(log_decay)
    momentum, momentum_start, momentum_end = decays(log_momentum)
    both = memory[..., 0] @ momentum[..., 0]  # (..., T, T), what token s wrote, in the memory at token t
    from_momentum = memory[..., 0] @ momentum_start
    scores = before(both, 0) * (k @ transpose(k))
    recalled = before(memory_start, 1) * (k @ S) + before(from_momentum, 0) * (k @ R)
    errors = unit_lower_solve(theta * scores, theta * (v - recalled))
    o = memory_start * (q @ S) + from_momentum * (q @ R) + (both * (q @ transpose(k))) @ errors
    S = memory_start[..., -1, :, None] * S + from_momentum[..., -1, :, None] * R
    S = S + transpose(k) @ (both[..., -1, :, None] * errors)
    R = momentum_start[..., -1, :, None] * R + transpose(momentum_end * k) @ errors
    return (S, R), o


def before(rows, first):
    """The rows one token later: what a token finds."""
    return np.concatenate([first + 0 * rows[..., :1, :], rows[..., :-1, :]], axis=-2)


VARIANT = Variant(
    name="titans_linear",
    title="Titans, linear memory",
    summary="the delta rule with momentum and weight decay",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        UNIT_KEY,
        VALUE,
        LOG_DECAY,
        replace(LOG_DECAY, name="log_momentum", doc="natural logarithm of the decay of the momentum", neutral=-np.inf),
        replace(BETA, name="theta", doc="learning rate of half the squared error"),
    ),
    state=(MEMORY, State("R", "K V", "momentum: the decayed sum of the updates")),
    erase="undecayed",
    exempt=("neutral",),
    constraints=(
        "C1  log_decay <= 0 and log_momentum <= 0.",
        "C2  log_momentum = -inf throughout is Comba with p = k and beta = theta: a gated delta rule, undecayed erase.",
        "C3  log_momentum = -inf and log_decay = 0 throughout is the delta rule with beta = theta.",
        "C4  theta = 0 writes nothing: what is left of the momentum still enters the memory.",
        "C5  log_decay_t = -inf is no reset: the momentum and the error of the undecayed memory remain.",
    ),
    sources=(
        Source(
            "Titans: Learning to Memorize at Test Time",
            "Behrouz, Zhong, Mirrokni",
            2024,
            "2501.00663",
            "equations (8)-(18)",
        ),
    ),
    aliases={"fla": "momentum_delta_rule (p = k, beta = 1, eta = theta, M = -R)"},
)
