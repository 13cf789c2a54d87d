"""How the relatives of softmax attention reduce to it and to one another, and what is only taken for it."""

import numpy as np

from linattn.algebra import dot, outer, sigmoid, times
from linattn.lattice.edge import Edge, adding, exponential_kernel, later, per_head, per_token
from linattn.variants import stick_breaking


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


def with_products(keys, values):
    """What a mean over the values needs beside them, so that it knows their covariance with the keys."""
    rows = outer(values, keys)
    return np.concatenate([values, keys, rows.reshape((*rows.shape[:-2], -1))], axis=-1)


def with_wider_values(state, x):
    return (state[0], with_products(*state)), {n: x[n] for n in ("q", "k", "scale")} | {
        "v": with_products(x["k"], x["v"])
    }


def less_the_covariance(output, x):
    V, K = x["v"].shape[-1], x["k"].shape[-1]
    v, k, vk = np.split(output, [V, V + K], axis=-1)
    return v + dot(k, x["r"]) * v - times(vk.reshape((*v.shape, K)), x["r"])


def values_alone(state):
    keys, values = state
    K = keys.shape[-1]
    return keys, values[..., : (values.shape[-1] - K) // (1 + K)]


def with_one_query(state, x):
    return state, x | {"q": np.broadcast_to(x["q"][..., :1, :], x["q"].shape)}


def as_a_scan(state, x):
    """What the cache gives is the state of the scan; the first token keeps it, and every other one has its key late."""
    keys, values = state
    q, k, v = (x[name][..., 0, :] for name in ("q", "k", "v"))
    _, h = stick_breaking.step(keys, values, q, k, v, x["scale"])
    z = sigmoid(x["scale"] * dot(x["q"], x["k"])) + 0 * x["v"]
    return (h,), {"x": later(x["v"], x["v"]), "z": later(z, z)}


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
    Edge("softmax_attention", "wall", "log_decay = 0", adding(log_decay=lambda x: np.zeros(x["k"].shape))),
    Edge("softmax_attention", "parallax", "r = 0", adding(r=lambda x: 0 * x["q"]), proof="bytes"),
    Edge(
        "parallax",
        "softmax_attention",
        "values v, k and v k^T, of whose means it is made",
        with_wider_values,
        less_the_covariance,
        values_alone,
    ),
)
MEETINGS = (
    Edge(
        "stick_breaking",
        "min_gru",
        "z the shares, a token late",
        as_a_scan,
        state_back=None,
        where=with_one_query,
        given="all queries are one",
        proof="bytes",
    ),
)
LOOKALIKES = (
    Edge(
        "wall",
        "fox",
        "the decay of a channel outside of the exponential",
        lambda s, x: ((*s, ones(s[0])), x | {"log_decay": x["log_decay"][..., :1]}),
        state_back=None,
    ),
    Edge("wall", "softmax_attention", "the decays dropped", adding("log_decay"), state_back=None),
    Edge("parallax", "softmax_attention", "r dropped", adding("r"), state_back=None),
    Edge("stick_breaking", "softmax_attention", "the same scores", adding(), state_back=None),
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
