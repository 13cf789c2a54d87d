r"""Softmax attention, the baseline of the field.

.. math::

    o_t = \sum_{s \le t} \frac{\exp(\sigma\, q_t^\top k_s)}{\sum_{r \le t} \exp(\sigma\, q_t^\top k_r)}\, v_s

The state is the cache of all keys and values: it grows with every token, and nothing is ever forgotten.
``parallel`` is the online form: it visits the keys block by block and keeps, for every query, the largest score so
far, the total weight and the weighted sum of values, all relative to that score.
"""

import numpy as np

from linattn.algebra import largest, maximum, read, transpose
from linattn.record import Input, Source, State, Variant

BLOCK = 16  # keys visited at a time by the online form; the result does not depend on it


def step(keys, values, q, k, v, scale):
    """Vaswani et al., equation (1), for one query; the softmax as Milakov and Gimelshein, equation (2)."""
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, v[..., None, :]], axis=-2)
    scores = scale * read(q, transpose(keys))  # (..., P)
    weights = np.exp(scores - largest(scores))
    return (keys, values), read(weights, values) / weights.sum(axis=-1, keepdims=True)  # READ


def parallel(keys, values, q, k, v, scale):
    past = keys.shape[-2]
    keys = np.concatenate([keys, k], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    return (keys, values), online(q, keys, values, scale, last_visible=past + np.arange(q.shape[-2]))


def online(q, keys, values, scale, last_visible):
    """Milakov and Gimelshein, algorithm 3 and equations (3), (4): query t sees the keys 0 ... last_visible[t]."""
    top = largest(scale * (q @ keys[..., 0, :, None]))  # (..., T, 1), the largest score so far
    total, weighted = 0, 0
    for s in range(0, keys.shape[-2], BLOCK):
        block = slice(s, s + BLOCK)
        scores = scale * (q @ transpose(keys[..., block, :]))  # (..., T, BLOCK)
        visible = s + np.arange(scores.shape[-1]) <= last_visible[:, None]
        before, top = top, maximum(top, largest(np.where(visible, scores, top)))
        weights = np.where(visible, np.exp(np.where(visible, scores, top) - top), 0)
        keep = np.exp(before - top)
        total = keep * total + weights.sum(axis=-1, keepdims=True)
        weighted = keep * weighted + weights @ values[..., block, :]
    return weighted / total


def bidirectional(q, k, v, scale):
    """Every query sees every key: softmax(Q K^T) V."""
    scores = scale * (q @ transpose(k))
    weights = np.exp(scores - largest(scores))
    return weights @ v / weights.sum(axis=-1, keepdims=True)


def bidirectional_online(q, k, v, scale):
    return online(q, k, v, scale, last_visible=np.full(q.shape[-2], k.shape[-2]))


VARIANT = Variant(
    name="softmax_attention",
    title="Softmax attention",
    summary="a weighted mean of all values so far, with weights exp(scale q.k)",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_online),
    inputs=(
        Input("q", "T K", "query", heads="q", kind="log"),
        Input("k", "T K", "key", heads="k", kind="log"),
        Input("v", "T V", "value", heads="v"),
        Input("scale", "", "factor on the scores", kind="log", default="K ** -0.5", role="parameter"),
    ),
    state=(State("keys", "P K", "all keys so far", kind="log"), State("values", "P V", "all values so far")),
    constraints=(
        "C1  T = 1 from the empty state returns v.",
        "C2  The output lies in the convex hull of the values seen.",
        "C3  A constant added to all scores of a query changes nothing.",
        "C4  Equal scores give the running mean of the values.",
    ),
    sources=(
        Source("Attention Is All You Need", "Vaswani et al.", 2017, "1706.03762", "equation (1)"),
        Source(
            "Online normalizer calculation for softmax",
            "Milakov, Gimelshein",
            2018,
            "1805.02867",
            "equations (1)-(4), algorithm 3",
        ),
        Source("FlashAttention", "Dao, Fu, Ermon, Rudra, Re", 2022, "2205.14135", "section 3.1, algorithm 1"),
    ),
    aliases={"ggml": "flash_attn_ext", "onnx": "Attention", "torch": "scaled_dot_product_attention"},
    used_by={"Llama": "transformers llama"},
)
