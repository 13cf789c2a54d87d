"""How what stands around the recurrence, or inside its kernels, reduces to the rest, and what is only taken for it."""

import numpy as np

from linattn.algebra import dot, sigmoid, transpose
from linattn.gates import softplus_gate
from linattn.lattice.edge import Edge, of


def log_decay(x):
    return softplus_gate(x["a"], x["A_log"][..., None, :], x["dt_bias"][..., None, :])


def with_squares(state, x):
    """The length of a key is one more channel of it; that of a query cancels."""
    keys, values = state
    q = np.concatenate([2 * x["gamma"] * x["q"], 0 * x["q"][..., :1] - x["gamma"]], axis=-1)
    inputs = {"q": q, "k": np.concatenate([x["k"], dot(x["k"], x["k"])], axis=-1), "v": x["v"], "scale": 1}
    return (np.concatenate([keys, dot(keys, keys)], axis=-1), values), inputs


def with_keys_of_one_length(state, x):
    """All their entries are one number or its negative."""
    keys, values = state
    tokens = keys.shape[-2] + x["k"].shape[-2]
    signs = np.where(np.arange(tokens)[:, None] * np.arange(keys.shape[-1]) % 3 == 1, -1, 1)
    keys, k = np.split(signs * x["k"][..., :1, :1], [keys.shape[-2]], axis=-2)
    return (keys, values), x | {"k": k}


def without_decay(state, x):
    return state, x | {"log_decay": np.zeros(x["x"].shape)}


def in_one_window(state, x):
    """It holds the hidden state and all inputs."""
    (h,) = state
    window = np.concatenate([0 * transpose(x["x"]), h[..., None]], axis=-1)
    return (window,), {"x": x["x"], "weight": np.ones(window.shape, dtype=int), "bias": 0 * h}


EDGES = (
    Edge(
        "sigmoid_gating_delta_rule",
        "gated_delta_rule",
        "log_decay = -exp(A_log) softplus(a + dt_bias), beta = sigmoid(b)",
        of("q", "k", "v", "scale", log_decay=log_decay, beta=lambda x: sigmoid(x["b"])),
    ),
    Edge(
        "kernel_attention",
        "softmax_attention",
        "|k|^2 as one more channel of every key, -gamma as one of the queries, scale = 1",
        with_squares,
        state_back=lambda s: (s[0][..., :-1], s[1]),
    ),
)
MEETINGS = (
    Edge(
        "kernel_attention",
        "softmax_attention",
        "scale = 2 gamma",
        of("q", "k", "v", scale=lambda x: 2 * x["gamma"]),
        where=with_keys_of_one_length,
        given="keys have one length",
    ),
    Edge(
        "linear_recurrence",
        "short_convolution",
        "weights of 1 and a window longer than the sequence",
        in_one_window,
        state_back=lambda s: (s[0].sum(axis=-1),),
        where=without_decay,
        given="log_decay = 0",
    ),
)
LOOKALIKES = (
    Edge(
        "sigmoid_gating_delta_rule",
        "gated_delta_rule",
        "the projections taken for the gates",
        of("q", "k", "v", "scale", log_decay=lambda x: x["a"], beta=lambda x: x["b"]),
    ),
    Edge(
        "kernel_attention",
        "softmax_attention",
        "the lengths of the keys dropped",
        of("q", "k", "v", scale=lambda x: 2 * x["gamma"]),
    ),
)
