"""How stabilised memories, regressions and levels reduce to other variants, and what is only taken for it."""

import numpy as np

from linattn.algebra import dot
from linattn.lattice import Edge, adding, per_token

LEVELS = 4


def exponentials(state, x):
    """What the relative state stands for, and the features."""
    S, z, m = state
    return (S * np.exp(m)[..., None], z * np.exp(m)), {
        "q": np.exp(x["q"]),
        "k": np.exp(x["k"]),
        "v": x["v"],
        "eps": 0,
    }


def of(*names, **new):
    """The same state; the inputs of these names, and others that are computed from all."""
    return lambda state, x: (state, {name: x[name] for name in names} | {name: f(x) for name, f in new.items()})


def scaled_query(x):
    return x["scale"] * x["q"]


def strength_before(x):
    """The beta of which Longhorn makes that of the delta rule, in every value channel."""
    return x["beta"] / (1 - x["beta"] * dot(x["k"], x["k"])) + 0 * x["v"]


def all_in_the_last_level(state, x):
    """Any level may hold what there was: the last one is never handed on."""
    (S,) = state
    levels = np.stack([0 * S] * (LEVELS - 1) + [S], axis=-3)
    ones = np.ones((*x["v"].shape[:-1], LEVELS), dtype=int)
    return (levels, np.zeros(levels.shape[:-2], dtype=int)), x | {"level_scale": ones}


def summed_levels(state):
    return (state[0].sum(axis=-3),)


def without_momentum(state, x):
    log_zero = np.full((*x["v"].shape[:-1], 1), -np.inf)
    inputs = {"q": scaled_query(x), "k": x["k"], "v": x["v"], "theta": x["beta"]}
    return (state[0], 0 * state[0]), inputs | {"log_decay": per_token(0)(x), "log_momentum": log_zero}


EDGES = (
    Edge(
        "exp_linear_attention",
        "normalised_linear_attention",
        "features exp(q) and exp(k), eps = 0",
        exponentials,
        state_back=None,
    ),
    Edge(
        "delta_rule",
        "longhorn",
        "beta / (1 - beta |k|^2) in every value channel",
        of("k", "v", q=scaled_query, beta=strength_before),
    ),
    Edge(
        "delta_rule",
        "titans_linear",
        "no momentum, log_decay = 0",
        without_momentum,
        state_back=lambda state: state[:1],
    ),
    Edge("simple_gla", "log_linear_simple_gla", "level_scale = 1", all_in_the_last_level, state_back=summed_levels),
    Edge(
        "gated_delta_rule",
        "log_linear_gated_delta_rule",
        "level_scale = 1",
        all_in_the_last_level,
        state_back=summed_levels,
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
        "titans_linear",
        "gated_delta_rule",
        "the momentum dropped",
        lambda state, x: (state[:1], adding("theta", beta=lambda x: x["theta"], scale=lambda x: 1)(state, x)[1]),
        state_back=None,
    ),
    Edge(
        "mesanet",
        "simple_gla",
        "no solve, values beta v",
        lambda state, x: (
            state[:1],
            of("q", "k", "log_decay", v=lambda x: x["beta"] * x["v"], scale=lambda x: 1)(state, x)[1],
        ),
        state_back=None,
    ),
    Edge(
        "log_linear_simple_gla",
        "simple_gla",
        "the sum of the levels",
        lambda state, x: (summed_levels(state), {n: x[n] for n in x if n != "level_scale"}),
        state_back=None,
    ),
)
