r"""MesaNet: what is read is the regularised least-squares fit of all values so far to their keys.

.. math::

    S_t &= \alpha_t S_{t-1} + \beta_t k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    H_t &= \alpha_t H_{t-1} + \beta_t k_t k_t^\top \\
    o_t &= S_t^\top (H_t + \mathrm{diag}(\lambda))^{-1} q_t

The inverse is exact, as in the equations and in fla's naive_mesa_net_exact. Kernels take conjugate gradient steps: in
fla a fixed number, from 0 in a prefill and from q / (diag H + lambda) when decoding, with 1e-5 in the divisors, which
differ unless converged. The regulariser does not decay. The paper's G is the transpose of S. There is no scale.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, outer, read, solve
from linattn.inputs import BETA, LOG_DECAY, MEMORY, QUERY, UNIT_KEY, VALUE
from linattn.record import Input, Source, State, Variant
from linattn.variants import simple_gla


def step(S, H, q, k, v, log_decay, beta, lamb):
    """von Oswald et al., equations (7) and (8), with the system solved by elimination."""
    alpha = np.exp(log_decay)[..., :, None]
    S = alpha * S + outer(k, beta * v)  # DECAY, WRITE
    H = alpha * H + outer(k, beta * k)
    return (S, H), read(solve(regularised(H, lamb), q[..., :, None])[..., 0], S)  # READ


def regularised(H, lamb):
    return H + lamb[..., :, None] * np.eye(H.shape[-1], dtype=np.int8)


def parallel(S, H, q, k, v, log_decay, beta, lamb):
    """Equation (10): simple GLA with solved queries; every H_t is a sum over the tokens."""
    between, since_start, _ = decays(log_decay)
    squares = outer(k, beta * k)
    all_H = since_start[..., None] * H[..., None, :, :] + np.einsum("...ts,...skl->...tkl", between[..., 0], squares)
    solved = solve(regularised(all_H, lamb[..., None, :]), q[..., :, None])[..., 0]
    (S,), o = simple_gla.parallel(S, solved, k, beta * v, log_decay, 1)
    return (S, all_H[..., -1, :, :]), o


REGULARISER = Input(
    "lamb",
    "K",
    "regulariser of each key channel",
    heads="k",
    domain=(0, np.inf),
    role="parameter",
    typical="positive",
)
VARIANT = Variant(
    name="mesanet",
    title="MesaNet",
    summary="reads a regularised least-squares fit of the decayed values to their keys",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        UNIT_KEY,
        VALUE,
        LOG_DECAY,
        replace(BETA, doc="weight of the token in the fit", domain=(0, np.inf)),
        REGULARISER,
    ),
    state=(MEMORY, State("H", "K K", "the decayed sum of beta k k^T", typical="zero")),
    constraints=(
        "C1  log_decay <= 0, beta >= 0 and lamb > 0: what is solved is positive definite.",
        "C2  beta_t = 0 only lets the state decay.",
        "C3  lamb times the output tends to that of simple GLA on values beta v as lamb grows.",
        "C4  From the empty state S^T (H + lamb)^-1 minimises the decayed squared errors plus lamb times its squares.",
        "C5  log_decay_t = -inf forgets everything before token t, exactly.",
        "C6  From the empty state with log_decay = 0, H^-1 S returns the value of each of K independent keys.",
    ),
    sources=(
        Source(
            "MesaNet: Sequence Modeling by Locally Optimal Test-Time Training",
            "von Oswald et al.",
            2025,
            "2506.05233",
            "equations (4)-(8) and (10), table 1",
        ),
    ),
    aliases={"fla": "mesa_net"},
)
