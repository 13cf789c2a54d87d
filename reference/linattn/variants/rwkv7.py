r"""RWKV-7 (Goose): the memory decays by channel, and what a removal key retrieves is removed by channel.

.. math::

    S_t &= \mathrm{diag}(\alpha_t) S_{t-1} - (a_t \odot \kappa_t) (S_{t-1}^\top \kappa_t)^\top + k_t v_t^\top,
           \qquad \alpha_t = e^{g_t} \in [0, 1]^K \\
    o_t &= \sigma\, S_t^\top q_t

The paper's names: r = q for the receptance, w = alpha, which it keeps above exp(-exp(-1/2)), kappa-hat = kappa,
k-tilde = k; its state is the transpose. The erase reads the undecayed state. Kernels take -kappa and a kappa; for alpha
the authors' take w of exp(-exp(w)), ggml's and mlx-lm's alpha itself. The norm, the bonus of the token itself, which is
added after it, and the output gate are outside. There is no scale, which is the default 1.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import dplr


def step(S, q, k, v, kappa, a, log_decay, scale):
    """Peng et al. 2025, equation (17), transposed."""
    removed = read(kappa, S)  # ERASE
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S - outer(a * kappa, removed) + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, kappa, a, log_decay, scale):
    return dplr.parallel(S, q, k, v, kappa, -a * kappa, log_decay, scale)


VARIANT = Variant(
    name="rwkv7",
    title="RWKV-7",
    summary="a delta rule with a decay and a learning rate per key channel",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        replace(KEY, doc="replacement key"),
        VALUE,
        replace(UNIT_KEY, name="kappa", doc="removal key, of unit length"),
        Input(
            "a",
            "T K",
            "in-context learning rate of each key channel",
            heads="k",
            domain=(0, 1),
            role="gate",
            typical="strength",
        ),
        CHANNEL_LOG_DECAY,
        replace(SCALE, default=1, neutral=1),
    ),
    state=(MEMORY,),
    erase="undecayed",
    constraints=(
        "C1  log_decay <= 0 and 0 <= a <= 1.",
        "C2  a = 0 throughout is gated linear attention.",
        "C3  kappa = k, a = beta in all channels, keys beta k for the write and log_decay = 0 is the delta rule.",
        "C4  log_decay_t = -inf does not forget: token t still removes what it has retrieved.",
    ),
    sources=(
        Source(
            'RWKV-7 "Goose" with Expressive Dynamic State Evolution',
            "Peng et al.",
            2025,
            "2503.14456",
            "equations (12) and (15)-(21) (version 2)",
        ),
    ),
    aliases={
        "fla": "rwkv7 (a = -kappa, b = a kappa)",
        "ggml": "rwkv_wkv7 (w = exp(log_decay), a = -kappa, b = a kappa; the state transposed)",
        "rwkv": "wkv7 (a = -kappa, b = a kappa)",
    },
    used_by={"RWKV-7": "mlx-lm rwkv7"},
)
