r"""mLSTM with a sigmoid input gate and the denominator of mLSTM.

.. math::

    S_t &= \alpha_t S_{t-1} + i_t k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    z_t &= \alpha_t z_{t-1} + i_t k_t \\
    o_t &= \frac{\sigma\, S_t^\top q_t}{\max(|\sigma\, z_t^\top q_t|,\, 1)}

i in [0, 1] is the input gate after its sigmoid; a norm and the output gate are outside. This is the default of the
authors' kernels, ``normalize=True``, which add eps to the denominator and take it for a constant in their backward
passes. The paper's cell has none (``mlstm_sigmoid``); an appendix has this one, and finds that behind a norm both do
alike, while without the lower bound 1 the model does not train.
"""

import numpy as np

from linattn.algebra import dot, maximum, outer, read
from linattn.families import with_ones
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant
from linattn.variants import mlstm_sigmoid
from linattn.variants.mlstm import NORMALISER
from linattn.variants.mlstm_sigmoid import GATE


def step(S, z, q, k, v, log_decay, i, scale):
    """Beck et al. 2025, appendix D.2, token by token: (13), (14) over the normaliser of (24), n = max(|.|, 1)."""
    alpha = np.exp(log_decay)
    S = alpha[..., :, None] * S + outer(i * k, v)  # DECAY, WRITE
    z = alpha * z + i * k
    return (S, z), bounded(scale * read(q, S), scale * dot(q, z))  # READ


def bounded(weighted_sum, total):
    return weighted_sum / maximum(maximum(total, -total), 1 + 0 * total)


def parallel(S, z, q, k, v, log_decay, i, scale):
    start = np.concatenate([S, z[..., :, None]], axis=-1)
    (final,), o = mlstm_sigmoid.parallel(start, q, k, with_ones(v), log_decay, i, scale)
    return (final[..., :-1], final[..., -1]), bounded(o[..., :-1], o[..., -1:])


VARIANT = Variant(
    name="mlstm_sigmoid_normalised",
    title="mLSTM with sigmoid input gate and normaliser",
    summary="simple GLA with an input gate, over the size of its normaliser or 1",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, LOG_DECAY, GATE, SCALE),
    state=(MEMORY, NORMALISER),
    exact="output and state, with max as any symmetric function of two numbers",
    exempt=("scale",),
    constraints=(
        "C1  log_decay <= 0 and 0 <= i <= 1.",
        "C2  i_t = 0 only lets state and normaliser decay.",
        "C3  Where |scale z.q| <= 1 the output is that of mlstm_sigmoid.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
        "C5  From the empty state it is mLSTM with log_input = log i.",
    ),
    sources=(
        Source(
            "Tiled Flash Linear Attention: More Efficient Linear RNN and xLSTM Kernels",
            "Beck, Poppel, Lippe, Hochreiter",
            2025,
            "2503.14376",
            "appendix D.2, (b) of its figure on sigmoid gates, on (13), (14) and appendix B.1, (22)-(25)",
        ),
    ),
    aliases={"mlstm_kernels": "mlstm_siging_parallel_fw(eps=0), log_decay = logsigmoid(f), i = sigmoid(i)"},
)
