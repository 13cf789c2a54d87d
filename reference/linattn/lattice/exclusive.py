"""How the variants whose read is exclusive, RWKV-5 and 6, reduce to others, and what is only taken for it."""

import numpy as np

from linattn.lattice.edge import Edge, adding, later, per_channel


def plus_itself(output, inputs):
    own = (inputs["q"] * inputs["k"]).sum(axis=-1, keepdims=True)
    return output + inputs["scale"] * own * inputs["v"]


def at_every_token(inputs):
    return np.broadcast_to(inputs["log_decay"][..., None, :], inputs["k"].shape)


def one_token_later(inputs):
    """An exclusive read is an inclusive one of what the token before has written."""
    k, v, log_decay = (inputs[name] for name in ("k", "v", "log_decay"))
    return inputs | {"k": later(k, k), "v": later(v, v), "log_decay": later(log_decay, k)}


def plus_bonus(output, inputs):
    own = (inputs["q"] * inputs["u"][..., None, :] * inputs["k"]).sum(axis=-1, keepdims=True)
    return output + inputs["scale"] * own * inputs["v"]


EDGES = (
    Edge("rwkv5", "rwkv6", "log_decay constant over the tokens", adding(log_decay=at_every_token)),
    Edge(
        "gla",
        "rwkv6",
        "queries alpha q, u = 0, plus the token itself",
        adding(q=lambda x: np.exp(x["log_decay"]) * x["q"], u=per_channel(0, "k")),
        plus_itself,
    ),
    Edge(
        "rwkv6",
        "gla",
        "keys, values and decays one token later, plus the token itself",
        lambda s, x: adding("u")(s, one_token_later(x)),
        plus_bonus,
        None,
    ),
    Edge(
        "retention",
        "rwkv5",
        "queries alpha q, u = 0, plus the token itself",
        adding(
            q=lambda x: np.exp(x["log_decay"])[..., None, :] * x["q"],
            u=per_channel(0, "k"),
            log_decay=lambda x: np.repeat(x["log_decay"], x["k"].shape[-1], axis=-1),
        ),
        plus_itself,
    ),
    Edge(
        "linear_attention",
        "rwkv6",
        "u = 1, log_decay = 0",
        adding(u=per_channel(1, "k"), log_decay=lambda x: np.zeros(x["k"].shape)),
    ),
    Edge(
        "linear_attention",
        "rwkv5",
        "u = 1, log_decay = 0",
        adding(u=per_channel(1, "k"), log_decay=per_channel(0, "k")),
    ),
)
LOOKALIKES = (
    Edge("gla", "rwkv6", "u = 1: the past is read before it decays", adding(u=per_channel(1, "k"))),
    Edge("rwkv6", "gla", "u dropped: the read is exclusive", adding("u")),
)
