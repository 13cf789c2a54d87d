"""The weights of the short convolution, and its bias."""

from dataclasses import replace

import numpy as np

from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.record import Array, Call, Results, right, with_inputs, with_output
from linattn_spec.mistakes.window import mistake_of_the_window


def centred(call: Call) -> Results:
    """As many tokens to come as tokens before."""
    moved = shifted(call.inputs["x"], -(call.state[0].shape[-1] // 2))
    return {**right(call), "output": right(replace(call, inputs={**call.inputs, "x": moved}))["output"]}


def bias_where_padded(y: Array, call: Call) -> Array:
    inside = np.arange(y.shape[2])[:, None] >= call.state[0].shape[-1] - 1
    return y - np.where(inside, call.inputs["bias"][..., None, :], 0)


def oldest_tap_missing(weight: Array, call: Call) -> Array:
    return np.concatenate([0 * weight[..., :1], weight[..., 1:]], axis=-1)


TAPS = (
    mistake_of_the_window(
        "weights-flipped",
        "order",
        "The weights are flipped: the first one is taken for that of the token itself.",
        with_inputs(weight=lambda x, c: x[..., ::-1]),
    ),
    mistake_of_the_window(
        "oldest-weight-missing",
        "widths",
        "The oldest token of the window has no weight: the kernel is narrower than the weights.",
        with_inputs(weight=oldest_tap_missing),
        ("https://github.com/sgl-project/sglang/issues/38622",),
    ),
    mistake_of_the_window(
        "weights-of-the-first-channel",
        "layout",
        "All channels have the weights of the first one.",
        with_inputs(weight=lambda x, c: first_of(x, -2)),
    ),
    mistake_of_the_window(
        "weights-of-the-first-head",
        "heads",
        "All heads have the weights of the first one.",
        with_inputs(weight=lambda x, c: first_of(x, 0)),
    ),
    mistake_of_the_window(
        "convolution-bias-missing", "skip", "The bias is missing.", with_inputs(bias=lambda x, c: 0 * x)
    ),
    mistake_of_the_window(
        "convolution-bias-twice", "skip", "The bias is added twice.", with_inputs(bias=lambda x, c: 2 * x)
    ),
    mistake_of_the_window(
        "convolution-bias-where-padded",
        "skip",
        "The bias is added to the first W - 1 tokens alone.",
        with_output(bias_where_padded),
    ),
    mistake_of_the_window(
        "convolution-centred",
        "causality",
        "The window is centred: half of it lies in the future.",
        centred,
        seen_by=("golden", "prefix"),
    ),
)
