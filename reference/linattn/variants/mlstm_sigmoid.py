r"""mLSTM with a sigmoid input gate: no exponential can overflow, and neither stabiliser nor normaliser is needed.

.. math::

    S_t &= \alpha_t S_{t-1} + i_t k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= \sigma\, S_t^\top q_t

i in [0, 1] is the input gate after its sigmoid; a norm and the output gate are outside. It is simple GLA on keys i k.
This is the paper's cell; the authors' kernels compute it with ``normalize=False``. By default these divide, as the
paper's appendix also tries: ``mlstm_sigmoid_normalised``.
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import BETA, KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import simple_gla


def step(S, q, k, v, log_decay, i, scale):
    """Beck et al. 2025, (13), (14)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(i * k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, i, scale):
    """Appendix B.1 with n = 1 and a sigmoid for the exponential, with a state."""
    return simple_gla.parallel(S, q, i * k, v, log_decay, scale)


GATE = Input("i", "T 1", "input gate", heads="v", domain=(0, 1), neutral=1, role="gate", typical=BETA.typical)
VARIANT = Variant(
    name="mlstm_sigmoid",
    title="mLSTM with sigmoid input gate",
    summary="simple GLA with an input gate",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, LOG_DECAY, GATE, SCALE),
    state=(MEMORY,),
    constraints=(
        "C1  log_decay <= 0 and 0 <= i <= 1.",
        "C2  i_t = 0 only lets the state decay.",
        "C3  i = 1 throughout is simple GLA.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Tiled Flash Linear Attention: More Efficient Linear RNN and xLSTM Kernels",
            "Beck, Poppel, Lippe, Hochreiter",
            2025,
            "2503.14376",
            "equations (13)-(15), section 4.1; appendices A.2, B.1, D.2",
        ),
    ),
    aliases={"mlstm_kernels": "mlstm_siging with normalize=False, log_decay = logsigmoid(f), i = sigmoid(i)"},
)
