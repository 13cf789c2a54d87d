"""How the relatives of softmax attention reduce to it and to one another, and what is only taken for it."""

import numpy as np

from linattn.lattice.edge import Edge, adding, exponential_kernel, per_head, per_token


def ones(cache):
    """Nothing has decayed yet."""
    return np.ones((*cache.shape[:-1], 1), dtype=int)


def with_all_kept(state, x):
    return (*state, ones(state[0])), x | {"log_decay": 0 * per_token(1)(x)}


def with_linear_decay(state, x):
    """At a constant decay the keys of the cache are as far away as they stand before its end."""
    distance = np.arange(state[0].shape[-2] - 1, -1, -1).astype(x["slope"].dtype)
    log_decay = np.broadcast_to(-x["slope"][..., None, :], (*x["v"].shape[:-1], 1))
    kept = np.exp(-x["slope"] * distance)[..., None]
    return (*state, kept), {name: x[name] for name in ("q", "k", "v", "scale")} | {"log_decay": log_decay}


def as_gated_linear_attention(state, x):
    """The exponential kernel, values and ones; what is left of a key stands in its row of the memory."""
    keys, values, kept = state
    (S, z), linear = exponential_kernel((keys, values), x)
    rows = np.concatenate([kept, 0 * x["v"][..., :1]], axis=-2)
    memory = np.concatenate([rows * S, rows * z[..., None].astype(int)], axis=-1)
    v = np.concatenate([x["v"], per_token(1)(x)], axis=-1)
    inputs = {"q": linear["q"], "k": linear["k"], "v": v, "log_decay": x["log_decay"], "scale": 1}
    return (memory,), inputs


def over_the_last(output, x):
    return output[..., :-1] / output[..., -1:]


EDGES = (
    Edge("softmax_attention", "fox", "log_decay = 0", with_all_kept, state_back=lambda s: s[:2]),
    Edge("alibi", "fox", "log_decay = -slope throughout", with_linear_decay, state_back=lambda s: s[:2]),
    Edge("softmax_attention", "alibi", "slope = 0", adding(slope=per_head(0))),
    Edge(
        "fox",
        "simple_gla",
        "a one-hot channel for every key, queries exp(scale q.k), divided by itself on values 1",
        as_gated_linear_attention,
        over_the_last,
        None,
    ),
    Edge("fox", "path", "beta = 0", adding(w=lambda x: x["k"], beta=lambda x: 0 * x["k"][..., :1])),
    Edge(
        "fox",
        "path",
        "w = 0",
        adding(w=lambda x: 0 * x["k"], beta=per_token(1)),
    ),
    Edge(
        "softmax_attention",
        "deltaformer",
        "beta = 0",
        adding(w=lambda x: x["q"], beta=lambda x: 0 * x["v"][..., :1]),
    ),
)
LOOKALIKES = (
    Edge("path", "fox", "w and beta dropped", lambda s, x: (s, {n: x[n] for n in x if n not in ("w", "beta")})),
    Edge(
        "fox",
        "softmax_attention",
        "the gate dropped",
        lambda s, x: (s[:2], adding("log_decay")(s, x)[1]),
        state_back=None,
    ),
    Edge(
        "deltaformer",
        "softmax_attention",
        "the correction dropped",
        lambda s, x: (s, {n: x[n] for n in x if n not in ("w", "beta")}),
        state_back=None,
    ),
)
