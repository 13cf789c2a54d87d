r"""GateLoop: gated linear attention whose decays are complex: they turn as well as shrink.

.. math::

    S_t &= \mathrm{diag}(a_t) S_{t-1} + k_t v_t^\top, \qquad a_t = e^{g_t + i\theta_t} \in \mathbb{C}^K \\
    o_t &= \mathrm{Re}(S_t)^\top q_t

g and theta come after their activations. The paper's are log sigmoid and none, of two projections; those of the
implementation below are log sigmoid(|a|) and arg a, of one; those of the author's notebook log sigmoid and ReLU, of
two. The paper lets q and k be complex and leaves Re out of its formulas; its models have real ones and return the real
part. It writes h a, but its code and its surrogate attention have one decay for each key channel, as here. The state
is a pair of real arrays. There is no scale. The implementation has one a per head; its surrogate attention keeps the
real part of the cumulative product alone, clamped, and is no form of this. The paper's is one.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read, turn
from linattn.inputs import CHANNEL_LOG_DECAY, KEY, MEMORY, QUERY, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import simple_gla


def step(S_real, S_imag, q, k, v, log_decay, angle):
    """Katsch, (7) and (8), as in ``gate_loop_operator`` of section 3.2, with real q, k and v."""
    S_real, S_imag = (np.exp(log_decay)[..., :, None] * S for S in turn(S_real, S_imag, angle[..., :, None]))  # DECAY
    S_real = S_real + outer(k, v)  # WRITE
    return (S_real, S_imag), read(q, S_real)  # READ


def parallel(S_real, S_imag, q, k, v, log_decay, angle):
    """In a frame that turns with the angles the decays are real: gated linear attention of twice the width."""
    phase = np.cumsum(angle, axis=-2)
    q = np.concatenate(turn(q, 0 * q, phase), axis=-1)  # Re(S) is cos Re(R) - sin Im(R) for a state R of that frame
    k = np.concatenate(turn(k, 0 * k, phase), axis=-1)
    start = np.concatenate([S_real, -S_imag], axis=-2)
    (R,), o = simple_gla.parallel(start, q, k, v, np.concatenate([log_decay, log_decay], axis=-1), 1)
    width = S_real.shape[-2]
    return turn(R[..., :width, :], -R[..., width:, :], phase[..., -1, :, None]), o


ANGLE = Input("angle", "T K", "angle of the decay of each key channel", heads="v", kind="angle", neutral=0, role="gate")

VARIANT = Variant(
    name="gateloop",
    title="GateLoop",
    summary="gated linear attention with complex decays",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, CHANNEL_LOG_DECAY, ANGLE),
    state=(
        replace(MEMORY, name="S_real", doc="associative memory, real part"),
        replace(MEMORY, name="S_imag", doc="associative memory, imaginary part"),
    ),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  angle = 0 throughout is gated linear attention with scale 1.",
        "C3  log_decay = -inf in all channels of token t forgets everything before it, exactly.",
        "C4  A half turn in all channels of token t changes the sign of what was written before it.",
        "C5  log_decay = 0 and one angle throughout is the numerator of cosFormer.",
    ),
    sources=(
        Source(
            "GateLoop: Fully Data-Controlled Linear Recurrence for Sequence Modeling",
            "Katsch",
            2023,
            "2311.01927",
            "(7)-(9), sections 3.2-4, appendix C; the author's notebook in GatedLinearRNN",
        ),
    ),
    aliases={"gateloop-transformer": "gate_loop_operator (angle and log_decay per head)"},
)
