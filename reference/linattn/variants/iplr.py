r"""Generalised delta rule without a decay: the transition of the memory is the identity plus low rank (IPLR).

.. math::

    S_t &= S_{t-1} + b_t (S_{t-1}^\top a_t)^\top + k_t v_t^\top \\
    o_t &= \sigma\, S_t^\top q_t

fla writes the transition I + a b^T for its transposed state, and its naive code names our a and b alpha and beta.
"""

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Variant
from linattn.variants import dplr


def step(S, q, k, v, a, b, scale):
    """The recurrence of the generalised delta rule, without a decay."""
    retrieved = read(a, S)  # ERASE
    S = S + outer(b, retrieved) + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, a, b, scale):
    still = np.zeros((a.shape[-2], 1), dtype=np.int8)  # adds no precision of its own
    return dplr.parallel(S, q, k, v, a, b, still, scale)


VARIANT = Variant(
    name="iplr",
    title="Generalised delta rule (IPLR)",
    summary="an identity plus low-rank transition",
    step=step,
    parallel=parallel,
    inputs=(QUERY, KEY, VALUE, dplr.ERASE_READ, dplr.ERASE_WRITE, SCALE),
    state=(MEMORY,),
    constraints=(
        "C1  a = k and b = -beta k, with keys beta k for the write, is the delta rule.",
        "C2  a = 0 or b = 0 is linear attention.",
        "C3  The transition has the eigenvalue 1 + a.b: where its size is beyond 1, the state grows.",
    ),
    sources=dplr.VARIANT.sources,
    aliases={"fla": "iplr_delta_rule"},
)
