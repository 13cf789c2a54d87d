r"""Retention: linear attention that forgets at a fixed rate per head.

.. math::

    S_t &= \gamma S_{t-1} + k_t v_t^\top, \qquad \gamma = e^g \\
    o_t &= \sigma\, S_t^\top q_t

This is the bare operator. The rotation of q and k (xPos) comes before it, the group norm after it, and the score
normalisation of RetNet's parallel form, which that group norm cancels, is no part of it. The paper's equations have
no scale (``scale=1``); torchscale puts K^-1/2 on k, fla on q. RetNet's rates are ``linattn.slopes.retnet_log_decay``.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant
from linattn.variants import simple_gla


def step(S, q, k, v, log_decay, scale):
    """Sun et al., equation (6)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, scale):
    """The same decay at every token."""
    return simple_gla.parallel(S, q, k, v, np.repeat(log_decay[..., None, :], k.shape[-2], axis=-2), scale)


VARIANT = Variant(
    name="retention",
    title="Retention",
    summary="linear attention with a fixed decay per head",
    step=step,
    parallel=parallel,
    inputs=(
        replace(QUERY, doc="query, after its rotation"),
        replace(KEY, doc="key, after its rotation"),
        VALUE,
        replace(LOG_DECAY, axes="1", doc="natural logarithm of the decay of the head", role="parameter"),
        SCALE,
    ),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  log_decay = 0 is linear attention.",
        "C3  log_decay = -inf leaves o_t = scale (q_t.k_t) v_t.",
    ),
    sources=(
        Source(
            "Retentive Network: A Successor to Transformer for Large Language Models",
            "Sun et al.",
            2023,
            "2307.08621",
            "equations (5)-(8) (version 4)",
        ),
    ),
    aliases={"fla": "retention", "torchscale": "MultiScaleRetention (with score normalisation)"},
)
