r"""ALiBi: softmax attention whose scores fall linearly with the distance.

.. math::

    o_t = \frac{\sum_{s \le t} p_{ts} v_s}{\sum_{s \le t} p_{ts}}, \qquad
    p_{ts} = e^{\sigma\, q_t^\top k_s - m (t - s)}

The slope m of a head is fixed (``linattn.slopes.alibi_slopes``); the scale stands on q.k alone. It is forgetting
attention with one decay, -m, so that the positions need not be in the state.
"""

import numpy as np

from linattn.algebra import largest, read, transpose
from linattn.record import Input, Source, Variant
from linattn.variants import fox, softmax_attention


def step(keys, values, q, k, v, slope, scale):
    """Press, Smith, Lewis, section 3."""
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, v[..., None, :]], axis=-2)
    scores = scale * read(q, transpose(keys)) - slope * distances(keys, slope)  # (..., P)
    weights = np.exp(scores - largest(scores))
    return (keys, values), read(weights, values) / weights.sum(axis=-1, keepdims=True)  # READ


def parallel(keys, values, q, k, v, slope, scale):
    kept = np.exp(-slope * distances(keys, slope))[..., None]
    log_decay = np.broadcast_to(-slope[..., None, :], (*slope.shape[:-1], q.shape[-2], 1))
    (keys, values, _), o = fox.parallel(keys, values, kept, q, k, v, log_decay, scale)
    return (keys, values), o


def distances(keys, slope):
    """Of the keys to the last one, in the numbers of the slope."""
    return np.arange(keys.shape[-2] - 1, -1, -1).astype(slope.dtype)


VARIANT = Variant(
    name="alibi",
    title="ALiBi attention",
    summary="softmax attention whose scores fall linearly with the distance",
    step=step,
    parallel=parallel,
    inputs=(
        *softmax_attention.VARIANT.inputs[:3],
        Input(
            "slope",
            "1",
            "slope of the head",
            heads="q",
            kind="log",
            domain=(0, np.inf),
            neutral=0,
            role="parameter",
            typical="strength",
        ),
        softmax_attention.VARIANT.input("scale"),
    ),
    state=softmax_attention.VARIANT.state,
    constraints=(
        "C1  slope >= 0; slope = 0 is softmax attention.",
        "C2  It is forgetting attention with log_decay = -slope throughout.",
        "C3  The output lies in the convex hull of the values seen.",
        "C4  Equal scores q.k give weights exp(-slope distance).",
    ),
    sources=(
        Source(
            "Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation",
            "Press, Smith, Lewis",
            2021,
            "2108.12409",
            "section 3, the softmax with linear biases and the slopes",
        ),
    ),
    aliases={
        "ggml": "flash_attn_ext (max_bias = 8, alibi_slopes_interleaved)",
        "transformers": "build_alibi_tensor (alibi_slopes_interleaved)",
    },
    used_by={"BLOOM": "transformers bloom", "MPT": "transformers mpt"},
)
