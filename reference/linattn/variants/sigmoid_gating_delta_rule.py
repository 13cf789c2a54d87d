r"""Gated delta rule with its gates inside, as inference kernels have it: decay and strength come from projections.

.. math::

    g_t &= -e^{A}\, \mathrm{softplus}(a_t + b_{\Delta}), \qquad \beta_t = \mathrm{sigmoid}(b_t) \\
    S_t &= e^{g_t} (I - \beta_t k_t k_t^\top) S_{t-1} + \beta_t k_t v_t^\top \\
    o_t &= \sigma\, S_t^\top q_t

A is A_log, and b with the index Delta is dt_bias: one number per head each, as in Mamba-2. Softplus and sigmoid are
meant to all digits. PyTorch and the kernels have softplus(x) = x above a threshold of 20, which is right to 2e-9.
fla's kernels have log(1 + exp(x)) below it: far below 0 float32 has no digits left of that, and below -17 it is 0.

q and k come normalised. Kernels can do that too (``use_qk_l2norm_in_kernel``): x / sqrt(|x|^2 + 1e-6), before the
scale. With ``allow_neg_eigval`` fla doubles beta; the gated delta rule itself takes such strengths.
"""

import numpy as np

from linattn.activations import softplus
from linattn.algebra import outer, read, sigmoid
from linattn.gates import softplus_gate
from linattn.inputs import MEMORY, QUERY, SCALE, UNIT_KEY, VALUE
from linattn.record import Input, Source, Variant
from linattn.variants import gated_delta_rule

FAR = 2.0**15  # every format holds it, and in every format its sigmoid is 1, and the softplus of its negative 0


def step(S, q, k, v, a, b, A_log, dt_bias, scale):
    """Yang, Kautz, Hatamizadeh, equation (10), with the decay of Mamba-2."""
    dt = softplus(a + dt_bias)
    S = np.exp(-np.exp(A_log) * dt)[..., :, None] * S  # DECAY
    retrieved = read(k, S)  # ERASE
    S = S + outer(k, sigmoid(b) * (v - retrieved))  # WRITE
    return (S,), scale * read(q, S)  # READ


def parallel(S, q, k, v, a, b, A_log, dt_bias, scale):
    log_decay = softplus_gate(a, A_log[..., None, :], dt_bias[..., None, :])
    return gated_delta_rule.parallel(S, q, k, v, log_decay, sigmoid(b), scale)


VARIANT = Variant(
    name="sigmoid_gating_delta_rule",
    title="Sigmoid gating delta rule",
    summary="the gated delta rule with decay and writing strength computed from projections",
    step=step,
    parallel=parallel,
    inputs=(
        QUERY,
        UNIT_KEY,
        VALUE,
        Input("a", "T 1", "projection that gives the decay", heads="v", neutral=-FAR, role="gate"),
        Input("b", "T 1", "projection that gives the writing strength", heads="v", neutral=FAR, role="gate"),
        Input("A_log", "1", "logarithm of the rate of decay", heads="v", neutral=0, role="parameter", typical="mild"),
        Input("dt_bias", "1", "added to a", heads="v", neutral=0, role="parameter"),
        SCALE,
    ),
    state=(MEMORY,),
    erase="decayed",
    constraints=(
        "C1  It is the gated delta rule with log_decay = -exp(A_log) softplus(a + dt_bias) and beta = sigmoid(b).",
        "C2  a and dt_bias count only by their sum.",
        "C3  Where a + dt_bias is far below 0, nothing decays; far above, the log decay is -exp(A_log) (a + dt_bias).",
        "C4  log 2 more on A_log squares every decay.",
        "C5  b_t = 0 writes with strength 1/2; 0 <= beta <= 1, so that with unit keys no component changes its sign.",
    ),
    sources=(
        Source(
            "Gated Delta Networks: Improving Mamba2 with Delta Rule",
            "Yang, Kautz, Hatamizadeh",
            2024,
            "2412.06464",
            "equation (10), footnote 4 for the decay: that of Mamba-2 (version 3)",
        ),
    ),
    aliases={
        "vllm": "fused_sigmoid_gating_delta_rule_update",
        "sglang": "fused_sigmoid_gating_delta_rule_update",
        "fla": "gated_delta_rule with use_gate_in_kernel and use_beta_sigmoid_in_kernel, a = g, b = beta",
        "flashinfer": "gated_delta_rule_decode",
        "transformers": "Qwen3NextGatedDeltaNet, from a and b to the delta rule",
    },
    used_by={"Qwen3-Next": "transformers qwen3_next"},
)
