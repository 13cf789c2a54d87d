"""How the delta rules reduce to one another, and what is only taken for it."""

import numpy as np

from linattn.lattice.edge import Edge, adding, for_every_channel, per_token


def of(*names, **new):
    """The same state; the inputs of these names, and others that are computed from all."""
    return lambda state, x: (state, {name: x[name] for name in names} | {name: f(x) for name, f in new.items()})


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
