r"""Delta rule (DeltaNet): what a key retrieves is replaced by the new value, not added to.

.. math::

    \bar v_t &= S_{t-1}^\top k_t \\
    S_t &= S_{t-1} + \beta_t k_t (v_t - \bar v_t)^\top \\
    o_t &= \sigma\, S_t^\top q_t

Keys should have unit length: where |1 - beta |k|^2| > 1 the erase itself enlarges the state. Normalisation comes
before the operator. The papers have no scale (``scale=1``) and write the state transposed.
"""

import numpy as np

from linattn.algebra import outer, read, transpose, unit_lower_solve
from linattn.inputs import BETA, MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, beta, scale):
    """Schlag et al., equations (20), (24) and (25)."""
    retrieved = read(k, S)  # ERASE
    S = S + outer(k, beta * (v - retrieved))  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, beta, scale):
    """The writes u solve a unit lower-triangular system; arXiv:2406.06484, equations (8)-(11), u = U - W S."""
    u = unit_lower_solve(beta * np.tril(k @ transpose(k), -1), beta * (v - k @ S))
    o = scale * (q @ S + np.tril(q @ transpose(k)) @ u)
    return (S + transpose(k) @ u,), o


VARIANT = Variant(
    name="delta_rule",
    title="Delta rule",
    summary="linear attention that replaces what a key retrieves",
    step=step,
    parallel=parallel,
    inputs=(QUERY, UNIT_KEY, VALUE, BETA, SCALE),
    state=(MEMORY,),
    constraints=(
        "C1  0 <= beta <= 2; with unit keys the erase then never enlarges the state.",
        "C2  beta_t = 0 leaves the state as it is.",
        "C3  beta_t = 1 with a unit key stores v_t exactly: S_t^T k_t = v_t.",
        "C4  Orthonormal keys with beta = 1 give linear attention.",
    ),
    sources=(
        Source(
            "Linear Transformers Are Secretly Fast Weight Programmers",
            "Schlag, Irie, Schmidhuber",
            2021,
            "2102.11174",
            "equations (20)-(25)",
        ),
        Source(
            "Gated Delta Networks: Improving Mamba2 with Delta Rule",
            "Yang, Kautz, Hatamizadeh",
            2024,
            "2412.06464",
            "section 2.2, equations (3)-(9): chunks",
        ),
        Source(
            "Parallelizing Linear Transformers with the Delta Rule over Sequence Length",
            "Yang, Wang, Zhang, Shen, Kim",
            2024,
            "2406.06484",
            "section 2.2, sections 3.1 and 3.2, equations (3)-(11): chunks (version 6)",
        ),
    ),
    aliases={"onnx": 'LinearAttention update_rule="delta"', "fla": "delta_rule"},
)
