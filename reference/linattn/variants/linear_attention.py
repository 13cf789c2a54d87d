r"""Linear attention without normaliser: the softmax dropped, keys and values summed into one matrix.

.. math::

    S_t &= S_{t-1} + k_t v_t^\top \\
    o_t &= \sigma\, S_t^\top q_t

Feature maps act on q and k before (``linattn.features``). The papers write no scale: that is ``scale=1``.
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read, transpose
from linattn.inputs import KEY, MEMORY, QUERY, SCALE, VALUE
from linattn.record import Source, Variant


def step(S, q, k, v, scale):
    """Yang et al. 2023, equation (1); Katharopoulos et al., equations (18) and (10)."""
    S = S + outer(k, v)  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, scale):
    o = scale * (q @ S + np.tril(q @ transpose(k)) @ v)
    return (S + transpose(k) @ v,), o


def bidirectional(q, k, v, scale):
    """Q (K^T V): linear in T."""
    return scale * (q @ (transpose(k) @ v))


def bidirectional_quadratic(q, k, v, scale):
    """(Q K^T) V: quadratic in T."""
    return scale * ((q @ transpose(k)) @ v)


VARIANT = Variant(
    name="linear_attention",
    title="Linear attention",
    summary="a plain sum of outer products of keys and values",
    step=step,
    parallel=parallel,
    bidirectional=(bidirectional, bidirectional_quadratic),
    inputs=(
        replace(QUERY, doc="query, after its feature map"),
        replace(KEY, doc="key, after its feature map"),
        VALUE,
        SCALE,
    ),
    state=(MEMORY,),
    constraints=(
        "C1  T = 1 from the empty state returns scale (q.k) v.",
        "C2  Output and state are linear in (v, initial state) taken together.",
        "C3  The final state does not depend on the order of the tokens.",
    ),
    sources=(
        Source(
            "Transformers are RNNs",
            "Katharopoulos, Vyas, Pappas, Fleuret",
            2020,
            "2006.16236",
            "equations (6), (10), (18): the numerator",
        ),
        Source(
            "Gated Linear Attention Transformers with Hardware-Efficient Training",
            "Yang, Wang, Shen, Panda, Kim",
            2023,
            "2312.06635",
            "equation (1) (version 6)",
        ),
    ),
    aliases={"onnx": 'LinearAttention update_rule="linear"', "fla": "linear_attn (normalize=False)"},
)
