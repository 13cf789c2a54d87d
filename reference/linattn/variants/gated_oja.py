r"""Gated Oja rule: the delta rule with the roles of keys and values exchanged, and a decay per value channel.

.. math::

    S_t &= S_{t-1}\, \mathrm{diag}(\alpha_t)\, (I - \beta_t v_t v_t^\top) + \beta_t k_t v_t^\top,
           \qquad \alpha_t = e^{g_t} \in [0, 1]^V \\
    o_t &= \sigma\, S_t^\top q_t

What the value retrieves on the key side is replaced by the key. Values, not keys, should have unit length. Decay
comes first. The note of the authors writes the state transposed; there the states are those of Kimi delta attention
with keys and values exchanged, but the read is from the other side.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import decays, outer, products, read, transpose, unit_lower_solve
from linattn.inputs import BETA, KEY, LOG_DECAY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, log_decay, beta, scale):
    """Hu, section 1.3."""
    S = S * np.exp(log_decay)[..., None, :]  # DECAY
    retrieved = read(v, transpose(S))  # ERASE
    S = S + outer(beta * (k - retrieved), v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, beta, scale):
    """Section 1.3, in matrix form: the keys that are written solve a unit lower-triangular system."""
    between, since_start, until_end = decays(log_decay)
    u = unit_lower_solve(beta * np.tril(products(v, v, between), -1), beta * (k - (since_start * v) @ transpose(S)))
    o = since_start * (q @ S) + np.einsum("...ts,...tsv,...sv->...tv", q @ transpose(u), between, v)
    return (S * since_start[..., -1, None, :] + transpose(u) @ (until_end * v),), scale * o


VARIANT = Variant(
    name="gated_oja",
    title="Gated Oja rule",
    summary="the delta rule with keys and values exchanged and a decay per value channel",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        KEY,
        replace(VALUE, doc="value, of unit length", typical="unit"),
        replace(LOG_DECAY, axes="T V", doc="natural logarithm of the decay of each value channel"),
        BETA,
        SCALE,
    ),
    state=(MEMORY,),
    mixing=True,
    erase="decayed",
    linear=(),
    constraints=(
        "C1  log_decay <= 0.",
        "C2  0 <= beta <= 2; with unit values the erase then never enlarges the state.",
        "C3  beta_t = 0 only lets the state decay.",
        "C4  beta_t = 1 with a unit value stores k_t exactly: S_t v_t = k_t.",
        "C5  The states are those of Kimi delta attention with keys and values exchanged, transposed.",
        "C6  log_decay_t = -inf in all channels forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "Operator Derivation for Gated OJA Rule",
            "Hu",
            2025,
            "",
            "section 1.3; a note in fla, ops/gated_oja_rule/OJA.pdf",
        ),
    ),
    aliases={"fla": "gated_oja_rule (gv = log_decay)"},
)
