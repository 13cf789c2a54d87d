r"""Attention with the exact Gaussian kernel: the weights fall with the distance of query and key.

.. math::

    o_t = \frac{\sum_{s \le t} \exp(-\gamma\, |q_t - k_s|^2)\, v_s}{\sum_{s \le t} \exp(-\gamma\, |q_t - k_s|^2)}

gamma is 1 / (2 sigma^2). Random and Taylor features (``linattn.features``) approximate it with a state of fixed size;
here the cache grows. The query's own length cancels under the normaliser and the key's does not: it is softmax
attention with scores 2 gamma q.k and a bias -gamma |k|^2 on every key, which is the route of ``parallel``. Keys of one
length do not see the bias. The default, sigma^2 = K^(1/2), gives those the scale of softmax attention. Without a
normaliser it is another operator. It is attention to a mixture of Gaussian keys with one Gaussian a key and equal
priors.
"""

import numpy as np

from linattn.algebra import dot, largest, read
from linattn.record import Input, Source, Variant
from linattn.variants import softmax_attention


def step(keys, values, q, k, v, gamma):
    """Nadaraya-Watson regression of the values on the keys, at the query."""
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, v[..., None, :]], axis=-2)
    scores = -gamma * squared(q[..., None, :] - keys)  # (..., P)
    weights = np.exp(scores - largest(scores))
    return (keys, values), read(weights, values) / weights.sum(axis=-1, keepdims=True)  # READ


def parallel(keys, values, q, k, v, gamma):
    past = keys.shape[-2]
    keys = np.concatenate([keys, k], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    queries = extended_queries(q, gamma)
    last_visible = past + np.arange(q.shape[-2])
    return (keys, values), softmax_attention.online(queries, extended_keys(keys), values, 1, last_visible)


def squared(x):
    return dot(x, x)[..., 0]


def extended_queries(q, gamma):
    """Their inner product with ``extended_keys`` is 2 gamma q.k - gamma |k|^2."""
    return np.concatenate([2 * gamma * q, 0 * q[..., :1] - gamma], axis=-1)


def extended_keys(k):
    return np.concatenate([k, dot(k, k)], axis=-1)


def bidirectional(q, k, v, gamma):
    """Every query sees every key."""
    scores = -gamma * squared(q[..., :, None, :] - k[..., None, :, :])
    weights = np.exp(scores - largest(scores))
    return weights @ v / weights.sum(axis=-1, keepdims=True)


def bidirectional_online(q, k, v, gamma):
    return softmax_attention.bidirectional_online(extended_queries(q, gamma), extended_keys(k), v, 1)


VARIANT = Variant(
    name="kernel_attention",
    title="Gaussian kernel attention",
    summary="a weighted mean of all values so far, with weights exp(-gamma |q - k|^2)",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_online),
    inputs=(
        *softmax_attention.VARIANT.inputs[:3],
        Input(
            "gamma",
            "",
            "factor on the squared distance, 1 / (2 sigma^2)",
            kind="log",
            domain=(0, np.inf),
            default="K ** -0.5 / 2",
            role="parameter",
        ),
    ),
    state=softmax_attention.VARIANT.state,
    constraints=(
        "C1  gamma >= 0; gamma = 0 is the running mean of the values.",
        "C2  The output lies in the convex hull of the values seen.",
        "C3  One vector added to all queries and keys changes nothing.",
        "C4  With keys of one length it is softmax attention with the scale 2 gamma.",
        "C5  It is softmax attention on keys with |k|^2 as one more channel.",
    ),
    sources=(
        Source("Transformer with a Mixture of Gaussian Keys", "Nguyen et al.", 2021, "2110.08678", "(5), (9), (10)"),
        Source("Dive into Deep Learning", "Zhang et al.", 2021, "2106.11342", "(11.2.1), (11.2.2), 11.2.3, 11.3.1"),
        Source("Transformer Dissection", "Tsai et al.", 2019, "1908.11775", "the smoother, as in the authors' README"),
    ),
)
