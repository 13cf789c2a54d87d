r"""Linear attention with its normaliser: a weighted mean with weights q.k instead of exp(q.k).

.. math::

    S_t &= S_{t-1} + k_t v_t^\top \\
    z_t &= z_{t-1} + k_t \\
    o_t &= \frac{S_t^\top q_t}{z_t^\top q_t + \epsilon}

q and k come after their feature map, which should be non-negative (``linattn.features``): with signed features the
denominator can vanish or be negative, and the output is then no mean. The paper has no eps, which is the default 0;
libraries add 1e-6 (fast-transformers) or 1e-10 (fla, to a scaled denominator).
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, outer, read, transpose
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Input, Source, State, Variant


def step(S, z, q, k, v, eps):
    """Katharopoulos et al., equations (18), (19) and (12)."""
    S = S + outer(k, v)  # WRITE
    z = z + k
    return (S, z), read(q, S) / (dot(q, z) + eps)  # READ


def parallel(S, z, q, k, v, eps):
    weights = np.tril(q @ transpose(k))  # (..., T, T)
    total = q @ z[..., :, None] + weights.sum(axis=-1, keepdims=True)
    o = (q @ S + weights @ v) / (total + eps)
    return (S + transpose(k) @ v, z + k.sum(axis=-2)), o


def bidirectional(q, k, v, eps):
    """Q (K^T V) over Q (K^T 1): linear in T; equations (5) and (6)."""
    return (q @ (transpose(k) @ v)) / (q @ k.sum(axis=-2)[..., :, None] + eps)


def bidirectional_quadratic(q, k, v, eps):
    """The rows of Q K^T, divided by their sums, times V; equation (4)."""
    weights = q @ transpose(k)
    return (weights @ v) / (weights.sum(axis=-1, keepdims=True) + eps)


VARIANT = Variant(
    name="normalised_linear_attention",
    title="Normalised linear attention",
    summary="a weighted mean of all values so far, with weights q.k",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_quadratic),
    inputs=(
        replace(QUERY, doc="query, after its feature map", typical="positive"),
        replace(KEY, doc="key, after its feature map", typical="positive"),
        VALUE,
        Input("eps", "", "added to the denominator z.q", domain=(0, np.inf), neutral=0, default=0, role="parameter"),
    ),
    state=(
        MEMORY,
        State("z", "K", "normaliser: the sum of the keys", typical="positive"),
    ),
    constraints=(
        "C1  T = 1 from the empty state with eps = 0 returns v wherever q.k is not 0, also where it is negative.",
        "C2  With non-negative features and eps = 0 the output lies in the convex hull of the values seen.",
        "C3  With eps = 0 a factor on q cancels, and so does one common to all keys.",
        "C4  The normaliser is the same recurrence with one more value column of ones.",
    ),
    sources=(
        Source(
            "Transformers are RNNs",
            "Katharopoulos, Vyas, Pappas, Fleuret",
            2020,
            "2006.16236",
            "equations (4)-(6), (9)-(12), (16)-(20)",
        ),
    ),
    aliases={"fla": "linear_attn (normalize=True)", "fast-transformers": "CausalLinearAttention"},
)
