r"""RetNet: retention of rotated queries and keys, normalised: what a head of the layer hands to its gate.

.. math::

    S_t &= \gamma S_{t-1} + \big(R(t\theta) k_t\big) v_t^\top, \qquad \gamma = e^g \\
    r_t &= \sigma\, S_t^\top R(t\theta) q_t \\
    o_t &= \frac{r_t}{\sqrt{|r_t|^2 / V + \epsilon}}

R turns the channels 2r and 2r + 1 by t theta_r (``rotary.retnet_frequencies``); t starts at 0. The parallel form of
the paper divides the scores by sqrt(K), the decays of a row by the root of their sum, and a row by the larger of 1 and
its sum in size; torchscale's recurrent form divides otherwise. All are positive factors of r, which cancel in o where
eps = 0, the default, and nowhere else. The paper has a group norm, torchscale the root mean square as here. xPos would
also scale q and k with the position; RetNet's gamma does that.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.norms import rms_norm
from linattn.record import Input, Source, State, Variant
from linattn.rotary import rotate
from linattn.variants import normalised_linear_attention, retention


def step(S, phase, q, k, v, log_decay, angle, scale, eps):
    """Sun et al., equation (6) on rotated keys and queries, and the norm of equation (8)."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    S = S + outer(rotate(k, phase), v)  # WRITE
    return (S, phase + angle), rms_norm(scale * read(rotate(q, phase), S), eps=eps)  # READ


def parallel(S, phase, q, k, v, log_decay, angle, scale, eps):
    """Equation (5): all tokens rotated at once."""
    tokens = q.shape[-2]
    phases = np.stack([phase + t * angle for t in range(tokens)], axis=-2)
    (S,), o = retention.parallel(S, rotate(q, phases), rotate(k, phases), v, log_decay, scale)
    return (S, phase + tokens * angle), rms_norm(o, eps=eps)


VARIANT = Variant(
    name="retnet",
    title="RetNet",
    summary="retention of rotated queries and keys, divided by its root mean square",
    step=step,
    parallel=parallel,
    inputs=(
        replace(QUERY, doc="query, before its rotation"),
        replace(KEY, doc="key, before its rotation"),
        VALUE,
        retention.VARIANT.input("log_decay"),
        Input("angle", "R", "turn of each pair of channels", heads="v", kind="angle", neutral=0, role="parameter"),
        SCALE,
        replace(normalised_linear_attention.VARIANT.input("eps"), doc="added to the mean square"),
    ),
    state=(MEMORY, State("phase", "R", "angle of each pair of channels at the next token", kind="angle")),
    mixing=True,
    sizes="2 * R <= K",
    exempt=("scale",),
    linear=(),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  Before the norm, angle = 0 is retention.",
        "C3  With eps = 0 every output has the mean square 1, and positive factors on q, k, v and scale cancel.",
        "C4  With eps = 0 the normalised scores of the paper's parallel form give the same.",
        "C5  Only differences of angles count: all turned alike, phase and state change no output.",
    ),
    sources=(
        Source(
            "Retentive Network: A Successor to Transformer for Large Language Models",
            "Sun et al.",
            2023,
            "2307.08621",
            "equations (5), (6) and (8), section 2.2 for the score normalisation (version 4)",
        ),
    ),
    aliases={"fla": "MultiScaleRetention (layer)", "torchscale": "MultiScaleRetention, up to its gate"},
)
