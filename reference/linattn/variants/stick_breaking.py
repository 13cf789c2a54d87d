r"""Stick-breaking attention: every earlier key takes a share of what the later ones have left.

.. math::

    o_t &= \sum_{s < t} \beta_{ts} \prod_{s < u < t} (1 - \beta_{tu})\; v_s \\
    \beta_{ts} &= \frac{1}{1 + e^{-\sigma\, q_t^\top k_s}}

The nearest key breaks the stick first, and what no key takes is lost: the weights add up to at most 1. The sum is
exclusive, so that the first token of the empty state reads 0. With ``attend_current``, an option of the authors' code
and of fla, a token sees itself: that is this operator where the query comes one token later. What is left of the stick
is 1 minus the output on values 1; the authors add it, times a learned vector (14), or times v_t in their tests.
"""

import numpy as np

from linattn.algebra import read, scan, sigmoid, transpose
from linattn.record import Source, Variant
from linattn.variants import softmax_attention

BLOCK = 16  # keys visited at a time by ``parallel``; the result does not depend on it


def step(keys, values, q, k, v, scale):
    """Tan et al., equation (1): the shares of all keys in the cache."""
    scores = scale * read(q, transpose(keys))  # (..., P)
    o = read(sigmoid(scores) * left_by_later(sigmoid(-scores)), values)  # READ
    keys = np.concatenate([keys, k[..., None, :]], axis=-2)  # WRITE
    values = np.concatenate([values, v[..., None, :]], axis=-2)
    return (keys, values), o


def left_by_later(left):
    """The product of what each of the later keys leaves; 1 for the last one."""
    later = np.concatenate([left[..., 1:], 1 + 0 * left[..., :1]], axis=-1)[..., ::-1]
    return scan(later, later, axis=-1)[0][..., ::-1]


def parallel(keys, values, q, k, v, scale):
    """Block by block from the oldest key on: a later block leaves a part of what the earlier ones gave."""
    past = keys.shape[-2]
    keys = np.concatenate([keys, k], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    o = 0 * v
    for s in range(0, keys.shape[-2], BLOCK):
        block = slice(s, s + BLOCK)
        scores = scale * (q @ transpose(keys[..., block, :]))  # (..., T, BLOCK)
        earlier = s + np.arange(scores.shape[-1]) < past + np.arange(scores.shape[-2])[:, None]
        shares, left = broken(scores, earlier)
        o = left * o + shares @ values[..., block, :]
    return (keys, values), o


def broken(scores, earlier):
    """The shares of a block, and what it leaves of the stick, key by key from the last one on."""
    taken, left = np.where(earlier, sigmoid(scores), 0), np.where(earlier, sigmoid(-scores), 1)
    rest, shares = 1 + 0 * left[..., :1], []
    for s in reversed(range(taken.shape[-1])):
        shares.append(taken[..., s : s + 1] * rest)
        rest = left[..., s : s + 1] * rest
    return np.concatenate(shares[::-1], axis=-1), rest


VARIANT = Variant(
    name="stick_breaking",
    title="Stick-breaking attention",
    summary="every earlier key takes a share sigmoid(scale q.k) of what the later ones have left",
    step=step,
    parallel=parallel,
    inputs=softmax_attention.VARIANT.inputs,
    state=softmax_attention.VARIANT.state,
    read="strictly exclusive",
    constraints=(
        "C1  The first token of the empty state reads 0.",
        "C2  The output lies in the convex hull of 0 and the values before it.",
        "C3  Scores of 0 give the n-th last value the weight 2^-n.",
        "C4  A key of score -inf takes nothing; one of score +inf hides all earlier ones.",
        "C5  One query throughout makes it minGRU with gates sigmoid(scale q.k), seen one token later.",
    ),
    sources=(
        Source(
            "Scaling Stick-Breaking Attention: An Efficient Implementation and In-depth Study",
            "Tan, Yang, Courville, Panda, Shen",
            2024,
            "2410.17980",
            "equations (1)-(4), (9)-(14), section 2, appendices A, C (ICLR)",
        ),
    ),
    aliases={"fla": "stickbreaking_attn (attend_current=False)", "stickbreaking-attention": "sb_attn"},
)
