r"""Wall attention: softmax attention whose keys decay, each channel at its own data-dependent rate.

.. math::

    o_t = \frac{\sum_{s \le t} p_{ts}\, v_s}{\sum_{s \le t} p_{ts}}, \qquad
          p_{ts} = \exp\Bigl(\sigma \sum_d q_{td}\, k_{sd}\, e^{g_{s+1,d} + \ldots + g_{td}}\Bigr)

The decay is inside the exponential: a key that has decayed to 0 keeps the weight e^0, where forgetting attention
would leave it none. The state is the cache of decayed keys, and of values. The authors' code and fla have gates for
every query head (here heads with gates of their own have keys of their own), take differences of cumulative sums of g,
and offer a scalar gate outside of the exponent, which is that of forgetting attention, and a sink; both are left out.
A fork of their release takes log sigmoids for g, softly bounded from below at -0.86.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, products, transpose
from linattn.families import causal_softmax
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, QUERY, VALUE
from linattn.record import Source, Variant
from linattn.variants import softmax_attention


def step(keys, values, q, k, v, log_decay, scale):
    """The scores of the authors' README, from the cache: gated linear attention inside a softmax."""
    keys = np.exp(log_decay)[..., None, :] * keys  # DECAY
    return softmax_attention.step(keys, values, q, k, v, scale)  # WRITE, READ


def parallel(keys, values, q, k, v, log_decay, scale):
    """All scores as gated linear attention would weigh the tokens."""
    between, since_start, until_end = decays(log_decay)
    scores = np.concatenate([(since_start * q) @ transpose(keys), products(q, k, between)], axis=-1)
    weights = causal_softmax(scale * scores, keys.shape[-2])
    keys = np.concatenate([since_start[..., -1:, :] * keys, until_end * k], axis=-2)
    values = np.concatenate([values, v], axis=-2)
    return (keys, values), weights @ values


CACHE = softmax_attention.VARIANT.state
VARIANT = Variant(
    name="wall",
    title="Wall attention",
    summary="softmax attention whose keys decay channel by channel",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, CHANNEL_LOG_DECAY, softmax_attention.VARIANT.input("scale")),
    state=(replace(CACHE[0], kind="number", doc="all keys so far, decayed"), CACHE[1]),
    constraints=(
        "C1  log_decay <= 0; log_decay = 0 throughout is softmax attention.",
        "C2  log_decay_t = -inf in all channels leaves every earlier token the weight 1, and forgets none.",
        "C3  The output lies in the convex hull of the values seen.",
        "C4  It is softmax attention on the decayed keys; its scores are what GLA reads with one-hot values.",
    ),
    sources=(
        Source(
            "Wall Attention: Length Generalization With Diagonal Gates",
            "Pai, Averbuch, Zhang, Keigwin, Dewulf",
            2026,
            "",
            "the README of the release, its wall_attn/reference.py as in a fork, and fla's naive_wall_attn",
        ),
    ),
    aliases={"fla": "wall_attn (without g_scalar and sink_bias)"},
)
