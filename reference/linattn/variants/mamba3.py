r"""Mamba-3: Mamba-2 with keys and queries that turn, and a write that weighs a token and the one before it.

.. math::

    \phi_t &= \phi_{t-1} + \theta_t, \qquad \tilde k_t = R(\phi_t) k_t, \qquad \tilde q_t = R(\phi_t) q_t \\
    S_t &= \alpha_t S_{t-1} + (1 - \lambda_t) \Delta_t \alpha_t \tilde k_{t-1} v_{t-1}^\top
           + \lambda_t \Delta_t \tilde k_t v_t^\top, \qquad \alpha_t = e^{g_t} \\
    o_t &= S_t^\top \tilde q_t + D v_t

The paper's names: B = k, C = q, x = v, g = dt A, theta = the angle already times dt; lambda is ``trap``, after its
sigmoid. R turns the channels 2r and 2r + 1 by angle r, the others stay; the paper's equation turns by -theta. Norms
and biases of B and C come before, silu(z) after. The code keeps phi modulo one turn; its state is our transpose.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import dot, outer, read
from linattn.inputs import KEY, LOG_DECAY, MEMORY, QUERY, VALUE
from linattn.record import Input, Source, State, Variant
from linattn.rotary import rotate
from linattn.variants import mamba, simple_gla


def step(S, phase, key, value, q, k, v, log_decay, dt, trap, angle, D):
    """Lahoti et al., equation (11), and ``mamba3_siso_step_ref`` of their code."""
    phase = phase + angle
    q, k = rotate(q, phase), rotate(k, phase)
    alpha = np.exp(log_decay)
    S = alpha[..., :, None] * S  # DECAY
    S = S + outer((1 - trap) * dt * alpha * key, value) + outer(trap * dt * k, v)  # WRITE
    return (S, phase, k, v), read(q, S) + D * v  # READ


def parallel(S, phase, key, value, q, k, v, log_decay, dt, trap, angle, D):
    """Simple GLA in which a token has already what the next one will add of it; its own output has not."""
    phase = phase[..., None, :] + np.cumsum(angle, axis=-2)
    q, k = rotate(q, phase), rotate(k, phase)
    before = (1 - trap) * dt
    later = np.concatenate([before[..., 1:, :], 0 * before[..., :1, :]], axis=-2)
    start = S + outer(before[..., 0, :] * key, value)
    (S,), o = simple_gla.parallel(start, q, k, (trap * dt + later) * v, log_decay, 1)
    o = o - later * dot(q, k) * v + D[..., None, :] * v
    return (S, phase[..., -1, :], k[..., -1, :], v[..., -1, :]), o


TRAP = Input(
    "trap",
    "T 1",
    "weight of a token in its own write",
    heads="v",
    domain=(0, 1),
    neutral=1,
    role="gate",
    typical="strength",
)

VARIANT = Variant(
    name="mamba3",
    title="Mamba-3",
    summary="rotary keys and queries and a trapezoidal write for Mamba-2",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        KEY,
        VALUE,
        replace(LOG_DECAY, doc="natural logarithm of the decay, dt A"),
        replace(mamba.STEP_SIZE, axes="T 1"),
        TRAP,
        Input("angle", "T R", "turn of each pair of channels", heads="v", kind="angle", neutral=0, role="gate"),
        replace(mamba.SKIP, axes="1"),
    ),
    state=(
        MEMORY,
        State("phase", "R", "angle of each pair of channels so far", kind="angle"),
        State("key", "K", "key of the token before, turned"),
        State("value", "V", "value of the token before"),
    ),
    sizes="2 * R <= K",
    exempt=("neutral",),
    constraints=(
        "C1  log_decay <= 0, dt >= 0 and 0 <= trap <= 1.",
        "C2  trap = 1 and angle = 0 is Mamba-2.",
        "C3  trap = 1 is Mamba-2 on queries and keys that are turned beforehand.",
        "C4  log_decay_t = -inf forgets everything before token t, exactly.",
        "C5  Only differences of angles count: all turned alike, phase, key and state change no output.",
    ),
    sources=(
        Source(
            "Mamba-3: Improved Sequence Modeling using State Space Principles",
            "Lahoti et al.",
            2026,
            "2603.15569",
            "propositions 1 and 4, equations (5), (6) and (11)",
        ),
    ),
    aliases={"mamba_ssm": "mamba3_siso_combined (trap before its sigmoid, angle before tanh, pi and dt)"},
)
