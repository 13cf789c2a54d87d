r"""Power attention of degree 2, gated: a weighted mean of all values so far, with weights (q.k)^2 that decay.

.. math::

    S_t &= \alpha_t S_{t-1} + k_t \otimes k_t \otimes v_t, \qquad \alpha_t = e^{g_t} \\
    z_t &= \alpha_t z_{t-1} + k_t \otimes k_t \\
    o_t &= \frac{S_t(q_t, q_t)}{z_t(q_t, q_t) + \epsilon}

The degree is even, so that no weight is negative. Degree p is linear attention on the features of
``linattn.features.symmetric_power``, C(K + p - 1, p) in number; here, at p = 2, ``step`` has the K^2 features k_i k_j
of the tensor power, which hold the same twice, and ``parallel`` needs no features but for the state. A scale on q.k
cancels. The paper has no eps; the authors' code adds 1e-7 to |q.k|, 1e-6 to the sum relative to its largest weight,
and takes cumulative log decays.
"""

import numpy as np

from linattn.algebra import decays, dot, outer, read, transpose
from linattn.inputs import KEY, LOG_DECAY, QUERY, VALUE
from linattn.record import Source, State, Variant
from linattn.variants import normalised_linear_attention


def step(S, z, q, k, v, log_decay, eps):
    """Gelada et al., equations (7), (8), (34) and (35) with p = 2."""
    (S, z), alpha = flat(S, z), np.exp(log_decay)
    S = alpha[..., :, None] * S + outer(pairs(k), v)  # DECAY, WRITE
    z = alpha * z + pairs(k)
    o = read(pairs(q), S) / (dot(pairs(q), z) + eps)  # READ
    return unflat(S, z, k.shape[-1]), o


def parallel(S, z, q, k, v, log_decay, eps):
    """Equation (7): inside the chunk the weights are squares of inner products, without features."""
    S, z = flat(S, z)
    between, since_start, until_end = decays(log_decay)
    scores = q @ transpose(k)
    weights = scores * scores * between[..., 0]
    weighted = since_start * (pairs(q) @ S) + weights @ v
    total = since_start * (pairs(q) @ z[..., :, None]) + weights.sum(axis=-1, keepdims=True)
    kept, written = since_start[..., -1, :], until_end * pairs(k)
    S, z = kept[..., None] * S + transpose(written) @ v, kept * z + written.sum(axis=-2)
    return unflat(S, z, k.shape[-1]), weighted / (total + eps)


def pairs(x):
    """k_i k_j for all pairs of channels: (..., K) -> (..., K K). Their kernel is (x.y)^2: equation (8)."""
    return outer(x, x).reshape(*x.shape[:-1], -1)


def flat(S, z):
    """The pairs of channels as one axis."""
    return S.reshape(*S.shape[:-3], -1, S.shape[-1]), z.reshape(*z.shape[:-2], -1)


def unflat(S, z, width):
    return S.reshape(*S.shape[:-2], width, width, S.shape[-1]), z.reshape(*z.shape[:-1], width, width)


VARIANT = Variant(
    name="power_attention",
    title="Power attention",
    summary="a weighted mean of all values so far, with weights (q.k)^2 that decay",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, LOG_DECAY, normalised_linear_attention.VARIANT.input("eps")),
    state=(
        State("S", "K K V", "associative memory: pairs of key channels by values"),
        State("z", "K K", "normaliser: the decayed sum of k k^T"),
    ),
    constraints=(
        "C1  log_decay <= 0; log_decay_t = -inf forgets everything before token t, exactly.",
        "C2  T = 1 from the empty state with eps = 0 returns v wherever q.k is not 0.",
        "C3  From the empty state with eps = 0 the output lies in the convex hull of the values seen.",
        "C4  With eps = 0 a factor on q cancels, and so does one common to all keys; signs of q and k do not count.",
        "C5  It is simple GLA on the features k_i k_j, divided by itself on values 1.",
    ),
    sources=(
        Source(
            "Scaling Context Requires Rethinking Attention",
            "Gelada, Buckman, Zhang, Bach",
            2025,
            "2507.04239",
            "equations (7)-(9), appendix F, equations (34), (35) and table 5",
        ),
    ),
    aliases={"retention": "power_retention(deg=2)"},
)
