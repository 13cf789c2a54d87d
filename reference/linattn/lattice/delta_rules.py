"""How the delta rules reduce to one another, and what is only taken for it."""

import numpy as np

from linattn.algebra import transpose
from linattn.lattice.edge import Edge, adding, for_every_channel, of, per_token
from linattn.variants.gated_delta_product import flat


def wide(number, name="k"):
    """One number in all channels of every token."""
    return lambda x: np.full(x[name].shape, number)


def beta_in_channels(name):
    return lambda x: np.repeat(x["beta"], x[name].shape[-1], axis=-1)


def alpha_k(x):
    return np.exp(x["log_decay"]) * x["k"]


def beta_k(x):
    return x["beta"] * x["k"]


def minus_beta_k(x):
    return -beta_k(x)


def key(x):
    return x["k"]


def one_step(name):
    """A token axis of J = 1."""
    return lambda x: x[name][..., None, :]


def after_idleness(name):
    """A token axis of J = 2, of which the first does nothing: its strength is 0."""
    return lambda x: np.stack([0 * x[name] if name == "beta" else x[name], x[name]], axis=-2)


def one_after_the_other(state, x):
    """Of the J steps of a token the first one decays."""
    count = x["k"].shape[-2]
    log_decay = np.concatenate([x["log_decay"], 0 * x["beta"][..., 1:, 0]], axis=-1)[..., None]
    steps = {name: flat(x[name]) for name in ("k", "v", "beta")} | {"log_decay": flat(log_decay)}
    return state, steps | {"q": np.repeat(x["q"], count, axis=-2), "scale": x["scale"]}


def after_the_last(output, x):
    count = x["k"].shape[-2]
    return output[..., count - 1 :: count, :]


def exchanged(state, x):
    """Keys for values. A unit query for every value channel, (..., V, T, V), reads the whole memory."""
    (S,) = state
    T, V = x["v"].shape[-2:]
    queries = np.broadcast_to(np.eye(V, dtype=int)[:, None, :], (*x["v"].shape[:-2], V, T, V))
    kept = {name: x[name][..., None, :, :] for name in ("log_decay", "beta")}
    both = {"k": x["v"][..., None, :, :], "v": x["k"][..., None, :, :]}
    return (transpose(S)[..., None, :, :],), kept | both | {"q": queries, "scale": 1}


def read_by_the_query(output, x):
    return x["scale"] * np.einsum("...vtk,...tk->...tv", output, x["q"])


def with_weights(state, x):
    """Any preconditioner is 1 where its bound is 1."""
    (S,) = state
    atk = {"log_decay_atk": 0 * x["beta"], "beta_atk": x["beta"], "log_atk_scale": x["beta"][..., 0, :]}
    return (S, S[..., 0] * S[..., 0]), x | atk | {"x": 1, "eps": 1}


DELTA_AS_DPLR = {"a": key, "b": minus_beta_k, "k": beta_k}
EDGES = (
    Edge("iplr", "dplr", "log_decay = 0", adding(log_decay=wide(0.0))),
    Edge("gla", "dplr", "a = 0", adding(a=wide(0), b=key)),
    Edge("gla", "dplr", "b = 0", adding(a=key, b=wide(0))),
    Edge("linear_attention", "iplr", "a = 0", adding(a=wide(0), b=key)),
    Edge("delta_rule", "iplr", "a = k, b = -beta k, keys beta k", adding("beta", **DELTA_AS_DPLR)),
    Edge("kda", "dplr", "a = alpha k, b = -beta k, keys beta k", adding("beta", **DELTA_AS_DPLR | {"a": alpha_k})),
    Edge(
        "rwkv7",
        "dplr",
        "a = kappa, b = -a kappa",
        adding("kappa", a=lambda x: x["kappa"], b=lambda x: -x["a"] * x["kappa"]),
    ),
    Edge(
        "comba",
        "dplr",
        "a = p, b = -beta k, keys beta k, log_decay constant over the channels",
        of("q", "v", "scale", a=lambda x: x["p"], b=minus_beta_k, k=beta_k, log_decay=for_every_channel),
    ),
    Edge(
        "gdn2",
        "dplr",
        "a = alpha b k, b = -k, values w v",
        adding("w", a=lambda x: x["b"] * alpha_k(x), b=lambda x: -x["k"], v=lambda x: x["w"] * x["v"]),
    ),
    Edge("kda", "gdn2", "b = w = beta", adding("beta", b=beta_in_channels("k"), w=beta_in_channels("v"))),
    Edge("gla", "gdn2", "b = 0, w = 1", adding(b=wide(0), w=wide(1, "v"))),
    Edge("gla", "rwkv7", "a = 0", adding(kappa=key, a=wide(0))),
    Edge(
        "delta_rule",
        "rwkv7",
        "kappa = k, a = beta, keys beta k, log_decay = 0",
        adding("beta", kappa=key, a=beta_in_channels("k"), k=beta_k, log_decay=wide(0.0)),
    ),
    Edge("delta_rule", "comba", "p = k, log_decay = 0", adding(p=key, log_decay=per_token(0))),
    Edge("simple_gla", "comba", "p = 0, beta = 1", adding(p=wide(0), beta=per_token(1))),
    Edge("gated_delta_rule", "comba", "p = alpha k", adding(p=alpha_k)),
    Edge(
        "gated_delta_rule",
        "gated_delta_product",
        "J = 1",
        adding(k=one_step("k"), v=one_step("v"), beta=one_step("beta")),
    ),
    Edge(
        "gated_delta_rule",
        "gated_delta_product",
        "beta = 0 in all but one of the J",
        adding(k=after_idleness("k"), v=after_idleness("v"), beta=after_idleness("beta")),
    ),
    Edge(
        "gated_delta_product",
        "gated_delta_rule",
        "T J tokens, of which the first of every J decays and the last is read",
        one_after_the_other,
        after_the_last,
    ),
    Edge(
        "gated_oja",
        "kda",
        "keys for values, a unit query for every value channel, then the product with q",
        exchanged,
        read_by_the_query,
        lambda state: (transpose(state[0][..., 0, :, :]),),
    ),
    Edge("gated_delta_rule", "preconditioned_gated_delta_rule", "x = 1", with_weights, state_back=lambda s: s[:1]),
    Edge("kda", "preconditioned_kda", "x = 1", with_weights, state_back=lambda s: s[:1]),
    Edge(
        "preconditioned_gated_delta_rule",
        "preconditioned_kda",
        "log_decay constant over the channels",
        adding(log_decay=for_every_channel),
    ),
)
LOOKALIKES = (
    Edge("gated_delta_rule", "comba", "p = k: the erase reads the undecayed state", adding(p=key)),
    Edge(
        "kda",
        "rwkv7",
        "kappa = k, a = beta: the erase reads the undecayed state",
        adding("beta", kappa=key, a=beta_in_channels("k"), k=beta_k),
    ),
    Edge("gdn2", "dplr", "a = alpha b k, b = -k: w dropped", adding("w", a=lambda x: x["b"] * alpha_k(x), b=wide(-1))),
    Edge("iplr", "linear_attention", "a and b dropped", of("q", "k", "v", "scale")),
    Edge(
        "preconditioned_gated_delta_rule",
        "gated_delta_rule",
        "no preconditioner",
        lambda s, x: (s[:1], {name: x[name] for name in ("q", "k", "v", "log_decay", "beta", "scale")}),
        state_back=None,
    ),
)
