"""How the memories that solve a regression reduce to others, and what is only taken for it."""

import numpy as np

from linattn.algebra import dot, outer, solve
from linattn.lattice.edge import Edge, adding, log_decay_of, of, per_token
from linattn.variants.longhorn import strength
from linattn.variants.mesanet import regularised
from linattn.variants.ttt_linear import gradient


def scaled_query(x):
    return x["scale"] * x["q"]


def beta_v(x):
    return x["beta"] * x["v"]


def one(x):
    return 1


def strength_before(x):
    """The beta of which Longhorn makes that of the delta rule, in every value channel."""
    return x["beta"] / (1 - x["beta"] * dot(x["k"], x["k"])) + 0 * x["v"]


def kept(x):
    """The decays of the diagonal Longhorn."""
    return 1 - outer(x["k"] * x["k"], strength(x["k"], x["beta"]))


def with_one_hot_keys(state, x):
    tokens, width = x["k"].shape[-2:]
    return state, x | {"k": x["k"] * np.eye(width, dtype=int)[np.arange(tokens) * 3 % width]}


def with_one_key_channel(state, x):
    return (state[0][..., :1, :],), x | {name: x[name][..., :1] for name in ("q", "k")}


def without_momentum(state, x):
    log_zero = np.full((*x["v"].shape[:-1], 1), -np.inf)
    inputs = {"q": scaled_query(x), "k": x["k"], "v": x["v"], "theta": x["beta"]}
    log_decay = x.get("log_decay", per_token(0)(x))
    return (state[0], 0 * state[0]), inputs | {"log_decay": log_decay, "log_momentum": log_zero}


def momentum_forgotten(state, x):
    return state, x | {"log_momentum": np.full(x["log_momentum"].shape, -np.inf)}


def as_comba(state, x):
    return of("q", "k", "v", "log_decay", p=lambda x: x["k"], beta=lambda x: x["theta"], scale=one)(state[:1], x)


def solved(state, x):
    """Queries (H + lamb)^-1 q."""
    S, H = state
    queries = []
    for t in range(x["q"].shape[-2]):
        q, k, beta, log_decay = (x[name][..., t, :] for name in ("q", "k", "beta", "log_decay"))
        H = np.exp(log_decay)[..., None] * H + outer(k, beta * k)
        queries.append(solve(regularised(H, x["lamb"]), q[..., None])[..., 0])
    return of("k", "log_decay", q=lambda x: np.stack(queries, axis=-2), v=beta_v, scale=one)((S,), x)


def one_mini_batch(state, x):
    return state, x | {"start": 0 * x["start"]}


def as_linear_attention(state, x):
    """All gradients are known beforehand. Four memories in one, by rows: W and b, which stay, and G and h."""
    W, b, G, h, _ = state
    gamma, beta = x["gamma"][..., None, :], x["beta"][..., None, :]
    u = gradient(x["k"] @ W + b[..., None, :], x["v"], gamma, beta, x["eps"])
    query, key = (np.concatenate([x[name], 1 + 0 * x[name][..., :1]], axis=-1) for name in ("q", "k"))
    rows = np.concatenate([W, b[..., None, :], G, h[..., None, :]], axis=-2)
    q, k = (np.concatenate(pair, axis=-1) for pair in ((query, -x["rho"] * query), (0 * key, key)))
    return (rows,), {"q": q, "k": k, "v": x["eta"] * u, "scale": 1}


EDGES = (
    Edge(
        "delta_rule",
        "longhorn",
        "beta / (1 - beta |k|^2) in every value channel",
        of("k", "v", q=scaled_query, beta=strength_before),
    ),
    Edge(
        "longhorn_diagonal",
        "hadamard_gated_linear_attention",
        "exp(log_decay) = 1 - (k k) eps^T, values eps v",
        of(
            "q",
            "k",
            v=lambda x: strength(x["k"], x["beta"]) * x["v"],
            log_decay=lambda x: log_decay_of(kept(x)),
            scale=one,
        ),
    ),
    Edge(
        "delta_rule",
        "titans_linear",
        "log_momentum = -inf, log_decay = 0",
        without_momentum,
        state_back=lambda state: state[:1],
    ),
    Edge("mesanet", "simple_gla", "queries (H + lamb)^-1 q, values beta v", solved, state_back=None),
)
MEETINGS = (
    Edge(
        "longhorn", "longhorn_diagonal", "the same inputs", adding(), where=with_one_hot_keys, given="keys are one-hot"
    ),
    Edge(
        "longhorn",
        "longhorn_diagonal",
        "the same inputs",
        adding(),
        where=with_one_key_channel,
        given="there is one key channel",
    ),
    Edge(
        "titans_linear",
        "comba",
        "p = k, beta = theta",
        as_comba,
        state_back=None,
        where=momentum_forgotten,
        given="log_momentum = -inf",
    ),
    Edge(
        "ttt_linear",
        "linear_attention",
        "values eta times its gradients, queries q and -rho q for what was and what comes",
        as_linear_attention,
        state_back=None,
        where=one_mini_batch,
        given="there is one mini-batch",
    ),
)
LOOKALIKES = (
    Edge(
        "delta_rule",
        "longhorn",
        "the same beta",
        of("k", "v", q=scaled_query, beta=lambda x: x["beta"] + 0 * x["v"]),
    ),
    Edge("longhorn", "longhorn_diagonal", "keys that are not one-hot", adding()),
    Edge(
        "gated_delta_rule",
        "titans_linear",
        "log_momentum = -inf: the error is that of the undecayed memory",
        without_momentum,
        state_back=lambda state: state[:1],
    ),
    Edge(
        "titans_linear",
        "gated_delta_rule",
        "the momentum dropped",
        lambda state, x: of("q", "k", "v", "log_decay", beta=lambda x: x["theta"], scale=one)(state[:1], x),
        state_back=None,
    ),
    Edge(
        "mesanet",
        "simple_gla",
        "no solve, values beta v",
        lambda state, x: of("q", "k", "log_decay", v=beta_v, scale=one)(state[:1], x),
        state_back=None,
    ),
    Edge(
        "ttt_linear",
        "linear_attention",
        "values eta times gradients: they are not known beforehand",
        as_linear_attention,
        state_back=None,
        where=lambda state, x: (state, x | {"start": 1 + 0 * x["start"]}),
        given="every token starts a mini-batch",
    ),
)
