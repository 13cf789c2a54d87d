r"""Gated DeltaProduct: every token decays the memory once and then applies J delta rules, one after the other.

.. math::

    S_{t,0} &= \alpha_t S_{t-1}, \qquad \alpha_t = e^{g_t} \\
    S_{t,j} &= (I - \beta_{t,j} k_{t,j} k_{t,j}^\top) S_{t,j-1} + \beta_{t,j} k_{t,j} v_{t,j}^\top,
               \qquad j = 1 \ldots J \\
    o_t &= \sigma\, S_{t,J}^\top q_t

The transition is a product of J generalised Householder matrices. ``parallel`` is the gated delta rule on a sequence
of T J tokens, of which the first of every J decays and the last is read, as in the paper. fla takes that sequence.
The paper has queries of unit length and no scale (``scale=1``).
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import BETA, LOG_DECAY, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Source, Variant
from linattn.variants import gated_delta_rule


def step(S, q, k, v, log_decay, beta, scale):
    """Siems et al.: J steps of the delta rule after one decay."""
    S = np.exp(log_decay)[..., :, None] * S  # DECAY
    for j in range(k.shape[-2]):
        retrieved = read(k[..., j, :], S)  # ERASE
        S = S + outer(k[..., j, :], beta[..., j, :] * (v[..., j, :] - retrieved))  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, log_decay, beta, scale):
    count = k.shape[-2]
    queries = np.repeat(q, count, axis=-2)
    gates = np.concatenate([log_decay, 0 * beta[..., 1:, 0]], axis=-1)[..., None]
    state, o = gated_delta_rule.parallel(S, queries, flat(k), flat(v), flat(gates), flat(beta), scale)
    return state, o[..., count - 1 :: count, :]


def flat(x):
    """(..., T, J, D) to (..., T J, D)."""
    return x.reshape(*x.shape[:-3], x.shape[-3] * x.shape[-2], x.shape[-1])


VARIANT = Variant(
    name="gated_delta_product",
    title="Gated DeltaProduct",
    summary="several delta rules a token after one scalar decay",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        replace(UNIT_KEY, axes="T J K", doc="keys of a token, of unit length"),
        replace(VALUE, axes="T J V", doc="values of a token"),
        LOG_DECAY,
        replace(BETA, axes="T J 1", doc="writing strengths of a token"),
        SCALE,
    ),
    state=(MEMORY,),
    erase="decayed",
    constraints=(
        "C1  log_decay <= 0.",
        "C2  0 <= beta <= 2; with unit keys the erase then never enlarges the state.",
        "C3  J = 1 is the gated delta rule.",
        "C4  beta = 0 in all but one of the J is the gated delta rule with that one.",
        "C5  The order of the J counts, unless their keys are orthogonal.",
        "C6  beta = 2 twice, with two unit keys and values 0, rotates the memory in their plane.",
        "C7  log_decay_t = -inf forgets everything before token t, exactly.",
    ),
    sources=(
        Source(
            "DeltaProduct: Improving State-Tracking in Linear RNNs via Householder Products",
            "Siems, Carstensen, Zela, Hutter, Pontil, Grazzi",
            2025,
            "2502.10297",
            "equation (3), sections 4, 5.1, appendix B.1 (NeurIPS)",
        ),
    ),
    aliases={"fla": "gated_delta_product (num_householder=J)"},
)
