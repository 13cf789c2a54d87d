"""How the first variants reduce to each other, and what is only taken for it."""

import numpy as np

from linattn.lattice.edge import (
    Edge,
    adding,
    exponential_kernel,
    for_every_channel,
    for_every_token,
    over_the_ones,
    per_head,
    per_token,
    split_ones,
    with_ones,
)


def with_new_keys(state, inputs):
    """Each in a direction of its own, as long as there is one; then none."""
    tokens, width = inputs["k"].shape[-2:]
    k = 0 * inputs["k"] + np.eye(tokens, width, dtype=int)
    return tuple(0 * S for S in state), inputs | {"k": k, "beta": 0 * inputs["beta"] + 1}


EDGES = (
    Edge("linear_attention", "retention", "log_decay = 0", adding(log_decay=per_head(0))),
    Edge("linear_attention", "simple_gla", "log_decay = 0", adding(log_decay=per_token(0))),
    Edge("retention", "simple_gla", "log_decay constant over the tokens", adding(log_decay=for_every_token)),
    Edge("simple_gla", "gla", "log_decay constant over the channels", adding(log_decay=for_every_channel)),
    Edge("delta_rule", "gated_delta_rule", "log_decay = 0", adding(log_decay=per_token(0))),
    Edge("gated_delta_rule", "kda", "log_decay constant over the channels", adding(log_decay=for_every_channel)),
    Edge(
        "normalised_linear_attention",
        "linear_attention",
        "one more value column of ones, by which the others are divided",
        with_ones,
        over_the_ones,
        split_ones,
    ),
    Edge(
        "softmax_attention",
        "normalised_linear_attention",
        "a one-hot channel for every key, queries exp(scale q.k)",
        exponential_kernel,
        state_back=None,
    ),
)

MEETINGS = (
    Edge(
        "delta_rule",
        "linear_attention",
        "the same inputs",
        adding("beta"),
        where=with_new_keys,
        given="beta = 1, keys are orthonormal and the state is empty",
    ),
)

LOOKALIKES = (
    Edge("linear_attention", "delta_rule", "beta = 1: keys that are not orthogonal erase", adding(beta=per_token(1))),
    Edge("linear_attention", "delta_rule", "beta = 0: then nothing is written", adding(beta=per_token(0))),
    Edge("simple_gla", "gated_delta_rule", "beta = 1: keys that are not orthogonal erase", adding(beta=per_token(1))),
    Edge("gla", "kda", "beta = 1: keys that are not orthogonal erase", adding(beta=per_token(1))),
    Edge(
        "delta_rule",
        "linear_attention",
        "values beta v: that writes and does not erase",
        adding("beta", v=lambda x: x["beta"] * x["v"]),
    ),
    Edge(
        "gated_delta_rule",
        "simple_gla",
        "values beta v: that writes and does not erase",
        adding("beta", v=lambda x: x["beta"] * x["v"]),
    ),
    Edge(
        "gla",
        "simple_gla",
        "the decay of the first channel for all",
        adding(log_decay=lambda x: x["log_decay"][..., :1]),
    ),
    Edge(
        "normalised_linear_attention",
        "linear_attention",
        "no normaliser",
        lambda state, inputs: adding("eps", scale=lambda x: 1)(state[:1], inputs),
        state_back=None,
    ),
)
