r"""RG-LRU, the recurrence of Griffin and Hawk: a linear recurrence whose input shrinks as its decay nears 1.

.. math::

    h_t &= \alpha_t \odot h_{t-1} + \sqrt{1 - \alpha_t^2} \odot i_t \odot x_t,
           \qquad \alpha_t = e^{g_t} = a^{c\, r_t} \in [0, 1]^D \\
    o_t &= h_t

The gates r and i and the decay a come before the operator (``gates.rg_lru_gate``). The paper has a = sigmoid(Lambda);
the parameter of the released code is -Lambda. At the first token of a sequence the code leaves the factor
sqrt(1 - alpha^2) out, which is what log_decay = -inf does; the paper does not.
"""

from dataclasses import replace

import numpy as np

from linattn.record import Input, Source, Variant
from linattn.variants import linear_recurrence


def step(h, x, i, log_decay):
    """De et al., equation (4)."""
    alpha = np.exp(log_decay)
    h = alpha * h  # DECAY
    h = h + np.sqrt(1 - alpha * alpha) * (i * x)  # WRITE
    return (h,), h  # READ


def parallel(h, x, i, log_decay):
    alpha = np.exp(log_decay)
    return linear_recurrence.parallel(h, np.sqrt(1 - alpha * alpha) * (i * x), log_decay)


VARIANT = Variant(
    name="rg_lru",
    title="RG-LRU",
    summary="a linear recurrence with inputs sqrt(1 - decay^2) i x",
    step=step,
    parallel=parallel,
    inputs=(
        linear_recurrence.INPUT,
        Input("i", "T D", "input gate", heads="v", domain=(0, 1), neutral=1, role="gate", typical="strength"),
        replace(linear_recurrence.DECAY, doc="natural logarithm of the decay of each channel, c r log a", singular=0),
    ),
    state=(linear_recurrence.HIDDEN,),
    output="T D",
    linear=("x", "h"),
    constraints=(
        "C1  log_decay <= 0 and 0 <= i <= 1.",
        "C2  log_decay_t = 0 ignores token t. There the square root has no derivative.",
        "C3  log_decay_t = -inf stores i_t x_t, exactly.",
        "C4  It is the linear recurrence with inputs sqrt(1 - exp(log_decay)^2) i x.",
        "C5  Inputs i x of variance 1 that know nothing of each other keep a state of variance 1.",
    ),
    sources=(
        Source(
            "Griffin: Mixing Gated Linear Recurrences with Local Attention for Efficient Language Models",
            "De et al.",
            2024,
            "2402.19427",
            "equations (1)-(4), section 2.4",
        ),
    ),
    aliases={"recurrentgemma": "RGLRU", "transformers": "RecurrentGemmaRglru"},
    used_by={"RecurrentGemma": "transformers recurrent_gemma"},
)
