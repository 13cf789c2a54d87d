r"""DeltaFormer: softmax attention to values from which what their own tokens retrieve has been taken.

.. math::

    u_t &= v_t - \beta_t \sum_{s < t} \frac{e^{\sigma\, w_t^\top k_s}}{\sum_{r < t} e^{\sigma\, w_t^\top k_r}}\, u_s \\
    o_t &= \sum_{s \le t} \frac{e^{\sigma\, q_t^\top k_s}}{\sum_{r \le t} e^{\sigma\, q_t^\top k_r}}\, u_s

The first sum is exclusive, and empty for the first token. The cache holds u in place of v. The correction has a
query w of its own; in fla's operator it is q, and beta is any number. In the authors' listing w is k, and beta 1. They
give v a factor too, which is the caller's here, and allow other kernels than softmax.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, largest, read, transpose, unit_lower_solve
from linattn.inputs import BETA
from linattn.record import Source, Variant
from linattn.variants import fox, softmax_attention


def step(keys, values, q, k, v, w, beta, scale):
    """fla's naive_deltaformer_attn, for one token."""
    retrieved = attended(w, keys, values, scale) if keys.shape[-2] else 0 * v  # ERASE
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, (v - beta * retrieved)[..., None, :]], axis=-2)
    return (keys, values), attended(q, keys, values, scale)  # READ


def attended(q, keys, values, scale):
    """Softmax attention of one query."""
    scores = scale * read(q, transpose(keys))
    weights = np.exp(scores - largest(scores))
    return read(weights, values) / weights.sum(axis=-1, keepdims=True)


def parallel(keys, values, q, k, v, w, beta, scale):
    """The corrected values solve a unit lower-triangular system with the weights of the correction."""
    past, tokens = keys.shape[-2], k.shape[-2]
    keys = np.concatenate([keys, k], axis=-2)
    seen = np.tri(tokens, past + tokens, past, dtype=np.int8)
    earlier = np.tri(tokens, past + tokens, past - 1, dtype=np.int8)
    weights = fox.relative(scale * (w @ transpose(keys)), earlier, own=scale * dot(w, k))
    none = earlier[:, :1] == 0  # the first token of all: its sum is empty
    weights = beta * weights / np.where(none, 1, weights.sum(axis=-1, keepdims=True))
    corrected = unit_lower_solve(weights[..., past:], v - weights[..., :past] @ values)
    values = np.concatenate([values, corrected], axis=-2)
    weights = fox.relative(scale * (q @ transpose(keys)), seen, own=scale * dot(q, k))
    return (keys, values), weights @ values / weights.sum(axis=-1, keepdims=True)


CACHE = softmax_attention.VARIANT.state
VARIANT = Variant(
    name="deltaformer",
    title="DeltaFormer",
    summary="softmax attention to values less what their tokens retrieve",
    step=step,
    parallel=parallel,
    inputs=(
        *softmax_attention.VARIANT.inputs[:3],
        replace(softmax_attention.VARIANT.input("k"), name="w", doc="query of the correction"),
        replace(BETA, doc="strength of the correction", domain=None, neutral=0),
        softmax_attention.VARIANT.input("scale"),
    ),
    state=(CACHE[0], replace(CACHE[1], doc="all corrected values so far")),
    exempt=("scale",),
    constraints=(
        "C1  beta = 0 throughout is softmax attention.",
        "C2  The first token of the empty state keeps its value: o_1 = v_1.",
        "C3  The correction does not see the token itself.",
        "C4  beta = 1 with one value throughout leaves the first value, and 0 for all others.",
        "C5  The output need not lie in the convex hull of the values.",
    ),
    sources=(
        Source(
            "Understanding Transformer from the Perspective of Associative Memory",
            "Zhong, Xu, Ao, Shi",
            2025,
            "2505.19488",
            "its equations of u and o alone, kernels kappa_1, kappa_2; as softmax in fla's naive_deltaformer_attn",
        ),
        Source(
            "DeltaFormer: Unlock the State Space of Transformer",
            "Xu, Ao, He, Lu, Shi, Zhong",
            2025,
            "",
            "sections 3.2, 3.4, appendix E, listing 1 (NeurIPS)",
        ),
    ),
    aliases={"fla": "deltaformer_attn (w = q)"},
)
