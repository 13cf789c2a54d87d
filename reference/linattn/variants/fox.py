r"""Forgetting attention (FoX): softmax attention whose weights decay with a data-dependent gate.

.. math::

    o_t &= \frac{\sum_{s \le t} f_{ts}\, e^{\sigma\, q_t^\top k_s} v_s}
                 {\sum_{s \le t} f_{ts}\, e^{\sigma\, q_t^\top k_s}}, \qquad
           f_{ts} = e^{g_{s+1} + \ldots + g_t}

The state is the cache of keys and values, and what is left of each: f. The paper, the authors' code and fla have a
gate, a sigmoid of the input, for every query head; here heads with gates of their own have keys and values of their
own. They take differences of cumulative sums of g; here single decays are multiplied, so that g = -inf is legal. The
paper does not write the scale, which is 1 / sqrt(K).
"""

import numpy as np

from linattn.algebra import decays, dot, largest, maximum, read, transpose
from linattn.inputs import LOG_DECAY
from linattn.record import Source, State, Variant
from linattn.variants import softmax_attention


def step(keys, values, kept, q, k, v, log_decay, scale):
    """Lin et al., (11): the weights of softmax attention times the products of the gates since."""
    kept = np.exp(log_decay)[..., None, :] * kept  # DECAY
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, v[..., None, :]], axis=-2)
    kept = np.concatenate([kept, np.ones((*v.shape[:-1], 1, 1), dtype=np.int8)], axis=-2)
    scores = scale * read(q, transpose(keys))  # (..., P)
    weights = relative(scores, kept[..., 0], own=scores[..., -1:])
    return (keys, values, kept), read(weights, values) / weights.sum(axis=-1, keepdims=True)  # READ


def parallel(keys, values, kept, q, k, v, log_decay, scale):
    keys = np.concatenate([keys, k], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    left, kept = decayed(kept, log_decay)
    weights = relative(scale * (q @ transpose(keys)), left, own=scale * dot(q, k))
    return (keys, values, kept), weights @ values / weights.sum(axis=-1, keepdims=True)


def decayed(kept, log_decay):
    """What is left of each key at each token, (..., T, P + T), and after the last one, (..., P + T, 1)."""
    between, since_start, until_end = decays(log_decay)
    left = np.concatenate([since_start * transpose(kept), between[..., 0]], axis=-1)
    return left, np.concatenate([since_start[..., -1:, :] * kept, until_end], axis=-2)


def relative(scores, kept, own):
    """The weights kept exp(scores), relative to the largest score of which something is kept.

    ``own`` is the score of the token itself, which is kept; those of forgotten tokens cannot overflow.
    """
    forgotten = kept == 0
    top = largest(np.where(forgotten, own, scores))
    below = np.where(forgotten, -maximum(top - scores, 0 * scores), scores - top)
    return kept * np.exp(below)


CACHE = softmax_attention.VARIANT.state
KEPT = State("kept", "P 1", "what is left of each key: the product of the decays since", typical="strength")
VARIANT = Variant(
    name="fox",
    title="Forgetting attention",
    summary="softmax attention with a data-dependent decay",
    step=step,
    parallel=parallel,
    inputs=(*softmax_attention.VARIANT.inputs[:3], LOG_DECAY, softmax_attention.VARIANT.input("scale")),
    state=(*CACHE, KEPT),
    constraints=(
        "C1  log_decay <= 0; log_decay = 0 throughout is softmax attention.",
        "C2  One value throughout is ALiBi with the slope -log_decay.",
        "C3  log_decay_t = -inf forgets everything before token t, exactly.",
        "C4  The output lies in the convex hull of the values seen.",
        "C5  It is gated linear attention on the kernel exp(scale q.k), divided by itself on values 1.",
    ),
    sources=(
        Source(
            "Forgetting Transformer: Softmax Attention with a Forget Gate",
            "Lin, Nikishin, He, Courville",
            2025,
            "2503.02130",
            "equations (7)-(13), section 3, footnote 1 for the scale (version 2)",
        ),
    ),
    aliases={"fla": "forgetting_attn", "forgetting-transformer": "forgetting_attention"},
)
