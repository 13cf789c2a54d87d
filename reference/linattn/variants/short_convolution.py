r"""Causal short convolution, channel by channel: what stands before the recurrence in Mamba, Gated DeltaNet and KDA.

.. math::

    y_t = \sum_{j=0}^{W-1} w_{W-1-j} \odot x_{t-j} + b

Channels do not mix. The last column of ``weight`` belongs to the token itself, as in PyTorch: it is a correlation,
not flipped. The state holds the last W inputs, oldest first, zeros at the start: the form of transformers, Mamba and
fla, of which the next token pushes the first column out unread. causal-conv1d, vLLM and ONNX keep the W - 1 others.

The activation comes after (``linattn.activations.silu``), though kernels have it inside. In Gated DeltaNet and KDA q,
k and v have a convolution each and no bias; in Mamba-2 one runs over x, B and C together, with a bias, which is the
same since channels do not mix.
"""

import numpy as np

from linattn.algebra import transpose
from linattn.record import Input, Source, State, Variant


def step(window, x, weight, bias):
    """``causal_conv1d_update``: an inner product of the window with the weights."""
    window = np.concatenate([window[..., 1:], x[..., None]], axis=-1)  # WRITE
    return (window,), np.einsum("...dw,...dw->...d", window, weight) + bias  # READ


def parallel(window, x, weight, bias):
    """``causal_conv1d_fn``: a sum of shifted sequences."""
    tokens, width = x.shape[-2], weight.shape[-1]
    seen = np.concatenate([transpose(window), x], axis=-2)  # (..., W + T, D)
    shifted = (seen[..., 1 + j : 1 + j + tokens, :] for j in range(width))
    y = sum(np.einsum("...d,...td->...td", weight[..., j], past) for j, past in enumerate(shifted))
    return (transpose(seen[..., tokens:, :]),), y + bias[..., None, :]


VARIANT = Variant(
    name="short_convolution",
    title="Short convolution",
    summary="a causal convolution over the last W tokens, channel by channel",
    step=step,
    parallel=parallel,
    inputs=(
        Input("x", "T D", "input", heads="v"),
        Input("weight", "D W", "weights of each channel, that of the token itself last", heads="v", role="parameter"),
        Input("bias", "D", "added to the output", heads="v", neutral=0, role="parameter"),
    ),
    state=(State("window", "D W", "the last W inputs, oldest first"),),
    output="T D",
    linear=("x", "window", "bias"),
    exempt=("neutral",),
    constraints=(
        "C1  The output of a token depends on it and the W - 1 tokens before it alone.",
        "C2  The first column of the incoming window is not read.",
        "C3  W = 1 multiplies every channel by its weight.",
        "C4  After fewer than W tokens the window still holds the end of the incoming one.",
        "C5  Every token moves the window, even one of zeros: none is neutral.",
        "C6  weight 1 throughout is a moving sum; W >= T from the empty state, the running sum.",
    ),
    sources=(
        Source(
            "Gated Delta Networks: Improving Mamba2 with Delta Rule",
            "Yang, Kautz, Hatamizadeh",
            2024,
            "2412.06464",
            "figure 1: the short convolutions of q, k and v (version 3)",
        ),
    ),
    aliases={
        "ggml": "ssm_conv (the caller adds the bias and puts the state before the tokens)",
        "causal-conv1d": "causal_conv1d_fn, causal_conv1d_update",
        "fla": "causal_conv1d, ShortConvolution",
        "transformers": "causal_conv1d_fn, causal_conv1d_update",
        "onnx": "CausalConvWithState",
    },
    used_by={
        "LFM2": "transformers lfm2",
        "Mamba": "transformers mamba",
        "Qwen3-Next": "transformers qwen3_next",
        "Kimi Linear": "transformers kimi_linear",
    },
)
