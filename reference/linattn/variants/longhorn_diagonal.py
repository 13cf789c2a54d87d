r"""Longhorn as its models have it: the exact update with k k^T replaced by its diagonal.

.. math::

    \epsilon_t &= \frac{\beta_t}{1 + \beta_t |k_t|^2} \\
    S_t &= \big( 1 - (k_t \odot k_t)\, \epsilon_t^\top \big) \odot S_{t-1} + k_t (\epsilon_t \odot v_t)^\top \\
    o_t &= S_t^\top q_t

Every entry of the state has a decay of its own, so that it is an associative scan. The authors' names: u = v, and
beta = sigmoid(dt); their state is the transpose of ours. The skip D u and the gate silu(z) are outside.
"""

from linattn.algebra import outer, read, scan
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Source, Variant
from linattn.variants.longhorn import WEIGHT, strength


def step(S, q, k, v, beta):
    """Liu et al., equation (7); ``selective_scan_online7_ref`` of their code."""
    eps = strength(k, beta)
    S = (1 - outer(k * k, eps)) * S  # DECAY
    S = S + outer(k, eps * v)  # WRITE
    return (S,), read(q, S)  # READ


def parallel(S, q, k, v, beta):
    eps = strength(k, beta)
    decayed, written = scan(1 - outer(k * k, eps), outer(k, eps * v), axis=-3)
    states = decayed * S[..., None, :, :] + written
    return (states[..., -1, :, :],), read(q, states)


VARIANT = Variant(
    name="longhorn_diagonal",
    title="Longhorn, diagonal",
    summary="linear attention with decays 1 - k^2 beta / (1 + beta |k|^2) per entry of the memory",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, WEIGHT),
    state=(MEMORY,),
    constraints=(
        "C1  beta >= 0; all decays are then in (0, 1].",
        "C2  beta_t = 0 leaves the state as it is.",
        "C3  With one key channel, or one-hot keys, it is the exact Longhorn.",
        "C4  It is linear attention with a full Hadamard gate 1 - (k k) eps^T and values eps v.",
    ),
    sources=(
        Source(
            "Longhorn: State Space Models are Amortized Online Learners",
            "Liu, Wang, Wu, Feng, Stone, Liu",
            2024,
            "2407.14207",
            "equation (7) and algorithm 1 (version 5); selective_scan_online7_ref of the authors' code",
        ),
    ),
    aliases={"longhorn_cuda": "selective_scan_online7_fn (u = v, beta = sigmoid(dt))"},
)
