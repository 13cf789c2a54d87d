r"""PaTH attention: softmax attention whose keys are reflected by every later token.

.. math::

    o_t &= \frac{\sum_{s \le t} p_{ts} v_s}{\sum_{s \le t} p_{ts}}, \qquad
           p_{ts} = e^{\sigma\, k_s^\top H_{s+1} \cdots H_t\, q_t + g_{s+1} + \ldots + g_t} \\
    H_t &= I - \beta_t w_t w_t^\top

The position of a key is what the tokens since have done to it: the cache holds H_t ... H_{s+1} k_s. log_decay is the
forget gate of PaTH-FoX, which is 0 in plain PaTH; fla multiplies it by the scale as well. The scores are what the
generalised delta rule would read from a memory with a value channel for every key.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, outer, read, transpose, unit_lower_solve
from linattn.inputs import BETA
from linattn.record import Source, Variant
from linattn.variants import fox


def step(keys, values, kept, q, k, v, w, beta, log_decay, scale):
    """Yang et al., section 3.4, (1): the later Householder matrices, applied to the cache."""
    keys = keys - outer(read(w, transpose(keys)), beta * w)  # REFLECT
    return fox.step(keys, values, kept, q, k, v, log_decay, scale)  # DECAY, WRITE, READ


def parallel(keys, values, kept, q, k, v, w, beta, log_decay, scale):
    """Section 3.2: what the reflections take from the keys solves a unit lower-triangular system."""
    taken = unit_lower_solve(beta * np.tril(w @ transpose(w), -1), beta * with_keys(w, keys, k, -1))
    scores = scale * (with_keys(q, keys, k, 0) - np.tril(q @ transpose(w)) @ taken)  # (..., T, P + T)
    keys = np.concatenate([keys, k], axis=-2) - transpose(taken) @ w
    values = np.concatenate([values, v], axis=-2)
    left, kept = fox.decayed(kept, log_decay)
    weights = fox.relative(scores, left, own=scale * dot(q, k))
    return (keys, values, kept), weights @ values / weights.sum(axis=-1, keepdims=True)


def with_keys(x, keys, k, last):
    """The inner products with the cache, and with the tokens up to the own one (last = 0) or before it (-1)."""
    return np.concatenate([x @ transpose(keys), np.tril(x @ transpose(k), last)], axis=-1)


VARIANT = Variant(
    name="path",
    title="PaTH attention",
    summary="softmax attention whose keys are reflected by every later token",
    step=step,
    parallel=parallel,
    inputs=(
        *fox.VARIANT.inputs[:3],
        replace(fox.VARIANT.input("k"), name="w", doc="direction of the reflection, of unit length", typical="unit"),
        replace(BETA, doc="strength of the reflection", kind="log", neutral=0),
        fox.VARIANT.input("log_decay"),
        fox.VARIANT.input("scale"),
    ),
    state=(replace(fox.VARIANT.state[0], doc="all keys so far, reflected"), *fox.VARIANT.state[1:]),
    constraints=(
        "C1  log_decay <= 0 and 0 <= beta <= 2.",
        "C2  beta = 0 or w = 0 throughout is forgetting attention.",
        "C3  beta = 2 with unit w is orthogonal: the cache keeps its lengths.",
        "C4  w = k, with beta = 1 and unit keys, hides all keys so far from equal ones: their scores are 0.",
        "C5  Without the softmax it is the delta rule: its scores are what IPLR reads with one-hot values.",
        "C6  log_decay_t = -inf forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "PaTH Attention: Position Encoding via Accumulating Householder Transformations",
            "Yang et al.",
            2025,
            "2505.16381",
            "sections 2.2, 3.1, 3.2 and 3.4 with equation (1) (version 2)",
        ),
    ),
    aliases={"fla": "path_attn"},
)
