r"""MetaLA: gated linear attention without keys, and a token's attention to itself.

.. math::

    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} + (1 - \alpha_t) v_t^\top, \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t + \mathrm{sigmoid}\big( q_t^\top (w \odot (1 - \alpha_t))\, v_t \big)

The second term, the self-augmentation, sees no state. Its sigmoid, of a vector and entry by entry, is that of the
authors' code; the paper writes a sigma. The paper has no scale; the authors' code has K^-1/2 on the first term
alone, as here. The short convolution, the norm and the output gate are outside.
"""

import numpy as np

from linattn.algebra import dot, outer, read
from linattn.inputs import CHANNEL_LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import hgrn2


def step(S, q, v, log_decay, w, scale):
    """Chou et al., equations (21) and (22)."""
    alpha = np.exp(log_decay)
    S = alpha[..., :, None] * S  # DECAY
    S = S + outer(1 - alpha, v)  # WRITE
    return (S,), scale * read(q, S) + augmentation(q, v, alpha, w)  # READ


def augmentation(q, v, alpha, w):
    """The second term of equation (22)."""
    return 1 / (1 + np.exp(-dot(q, w * (1 - alpha)) * v))


def parallel(S, q, v, log_decay, w, scale):
    (S,), o = hgrn2.parallel(S, q, v, log_decay, scale)
    return (S,), o + augmentation(q, v, np.exp(log_decay), w[..., None, :])


VARIANT = Variant(
    name="metala",
    title="MetaLA",
    summary="gated linear attention with keys 1 - decay and a self-augmented output",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        VALUE,
        CHANNEL_LOG_DECAY,
        Input("w", "K", "self-augmentation of each key channel", heads="v", neutral=0, role="parameter"),
        SCALE,
    ),
    state=(MEMORY,),
    exempt=("scale",),
    linear=(),
    constraints=(
        "C1  log_decay <= 0; log_decay_t = 0 in all channels leaves the state as it is.",
        "C2  The states are those of HGRN2; w = 0 gives its output plus 1/2.",
        "C3  log_decay = -inf in all channels of token t forgets everything before it, exactly.",
    ),
    sources=(
        Source(
            "MetaLA: Unified Optimal Linear Approximation to Softmax Attention Map",
            "Chou et al.",
            2024,
            "2411.10741",
            "equations (13), (16), (21) and (22)",
        ),
    ),
    aliases={"MetaLA": "QVMetaLA_self_aug (w is aug_balance)"},
)
