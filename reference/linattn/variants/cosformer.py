r"""cosFormer: a weighted mean of all values so far, with weights q.k cos(pi (t - s) / 2M).

.. math::

    S^c_t &= S^c_{t-1} + \cos(\theta_t)\, k_t v_t^\top, \qquad z^c_t = z^c_{t-1} + \cos(\theta_t)\, k_t,
             \qquad \theta_t = \omega t, \quad \omega = \pi / 2M \\
    o_t &= \frac{\cos(\theta_t)\, S_t^{c\top} q_t + \sin(\theta_t)\, S_t^{s\top} q_t}
                {\cos(\theta_t)\, z_t^{c\top} q_t + \sin(\theta_t)\, z_t^{s\top} q_t + \epsilon}

and the same with sines. q and k come after their feature map, a ReLU. M is a parameter, given as the angle omega
(``rotary.cosformer_angle``). No weight of a token at most M ago is negative, so M should be the greatest length there
will be: the paper has M >= T. The authors' code takes the length of the sequence, so that even its causal outputs
depend on tokens to come. The paper has no eps; the code clamps the denominator at 1e-6.
"""

import numpy as np

from linattn.algebra import dot, outer, read, transpose
from linattn.inputs import MEMORY, VALUE
from linattn.record import Input, Source, State, Variant
from linattn.variants import normalised_linear_attention


def step(S_cos, S_sin, z_cos, z_sin, position, q, k, v, angle, eps):
    """Qin et al. 2022, the causal form of the authors' code."""
    position = position + 1
    cos, sin = np.cos(angle * position), np.sin(angle * position)
    S_cos, S_sin = S_cos + outer(cos * k, v), S_sin + outer(sin * k, v)  # WRITE
    z_cos, z_sin = z_cos + cos * k, z_sin + sin * k
    weighted = read(cos * q, S_cos) + read(sin * q, S_sin)  # READ
    total = dot(cos * q, z_cos) + dot(sin * q, z_sin)
    return (S_cos, S_sin, z_cos, z_sin, position), weighted / (total + eps)


def parallel(S_cos, S_sin, z_cos, z_sin, position, q, k, v, angle, eps):
    """Normalised linear attention of twice the width."""
    tokens, width = k.shape[-2:]
    angles = angle[..., None, :] * np.stack([position + t for t in range(1, tokens + 1)], axis=-2)
    S, z = np.concatenate([S_cos, S_sin], axis=-2), np.concatenate([z_cos, z_sin], axis=-1)
    (S, z), o = normalised_linear_attention.parallel(S, z, turned(q, angles), turned(k, angles), v, eps)
    return (S[..., :width, :], S[..., width:, :], z[..., :width], z[..., width:], position + tokens), o


def turned(x, angles):
    return np.concatenate([np.cos(angles) * x, np.sin(angles) * x], axis=-1)


def bidirectional(q, k, v, angle, eps):
    """Equation (11), over all tokens: linear in T."""
    angles = np.stack([angle * t for t in range(k.shape[-2])], axis=-2)
    return normalised_linear_attention.bidirectional(turned(q, angles), turned(k, angles), v, eps)


def bidirectional_quadratic(q, k, v, angle, eps):
    """Weights q.k times the cosine of the angle between the tokens, as section 2.4 begins."""
    tokens = range(k.shape[-2])
    angles = np.stack([np.concatenate([angle * (t - s) for s in tokens], axis=-1) for t in tokens], axis=-2)
    weights = (q @ transpose(k)) * np.cos(angles)
    return (weights @ v) / (weights.sum(axis=-1, keepdims=True) + eps)


VARIANT = Variant(
    name="cosformer",
    title="cosFormer",
    summary="a weighted mean of all values so far, with weights q.k that fall like a cosine",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_quadratic),
    inputs=(
        *normalised_linear_attention.VARIANT.inputs[:2],
        VALUE,
        Input("angle", "1", "turn of a token, pi / (2 M)", heads="k", kind="angle", role="parameter", typical="angle"),
        normalised_linear_attention.VARIANT.input("eps"),
    ),
    state=(
        State("S_cos", MEMORY.axes, "associative memory of the keys times cos(angle t)"),
        State("S_sin", MEMORY.axes, "associative memory of the keys times sin(angle t)"),
        State("z_cos", "K", "normaliser: the sum of the keys times cos(angle t)"),
        State("z_sin", "K", "normaliser: the sum of the keys times sin(angle t)"),
        State("position", "1", "number of tokens so far", kind="count"),
    ),
    exempt=("neutral",),
    constraints=(
        "C1  T = 1 from the empty state with eps = 0 returns v wherever q.k is not 0.",
        "C2  angle = 0 is normalised linear attention.",
        "C3  The weight of token s at token t is q_t.k_s cos(angle (t - s)).",
        "C4  With non-negative features, eps = 0 and T <= M the output lies in the convex hull of the values seen.",
        "C5  From the empty state the position at the start changes no output.",
    ),
    sources=(
        Source(
            "cosFormer: Rethinking Softmax in Attention",
            "Qin et al.",
            2022,
            "2202.08791",
            "(11), section 2.4, appendix A.2; the causal form as in the authors' code",
        ),
    ),
    aliases={"cosformer": "CosformerAttention (M is the length)"},
)
