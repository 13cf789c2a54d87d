"""How the variants that write outer products reduce to one another, and what is only taken for it."""

import numpy as np

from linattn.lattice.edge import Edge, adding, over_the_ones, per_channel, per_head, per_token, split_ones, with_ones


def of_entries(inputs):
    """(dt A)^T: the log decays of Mamba."""
    return np.swapaxes(inputs["dt"][..., :, None] * inputs["A"][..., None, :, :], -1, -2)


def in_every_channel(inputs):
    """The inputs of Mamba-2 as those of Mamba."""
    width, channels = inputs["k"].shape[-1], inputs["v"].shape[-1]
    return {
        "dt": np.repeat(inputs["dt"], channels, axis=-1),
        "A": np.repeat(np.repeat(inputs["A"][..., None, :], channels, axis=-2), width, axis=-1),
        "D": np.repeat(inputs["D"], channels, axis=-1),
    }


def times_dt(state, inputs):
    """Without its skip, Mamba-2 is simple GLA, and Mamba the full gate."""
    simple = inputs["A"].shape[-1] == 1
    log_decay = inputs["dt"] * inputs["A"][..., None, :] if simple else of_entries(inputs)
    kept = {name: inputs[name] for name in ("q", "k")}
    return state, kept | {"v": inputs["dt"] * inputs["v"], "log_decay": log_decay, "scale": 1}


def plus_skip(output, inputs):
    return output + inputs["D"][..., None, :] * inputs["v"]


def pairs(x):
    """The products of all pairs of channels."""
    return (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)


def with_pairs_and_ones(state, inputs):
    S, z = state
    flat = S.reshape(*S.shape[:-3], -1, S.shape[-1]), z.reshape(*z.shape[:-2], -1)
    start, wide = with_ones(flat, inputs | {"q": pairs(inputs["q"]), "k": pairs(inputs["k"])})
    return start, wide | {"log_decay": inputs["log_decay"]}


def split_pairs(state):
    S, z = split_ones(state)
    width = int(S.shape[-2] ** 0.5)
    return S.reshape(*S.shape[:-2], width, width, S.shape[-1]), z.reshape(*z.shape[:-1], width, width)


def with_free_keys_and_ones(state, inputs):
    start, wide = with_ones(state, inputs)
    free = 1 - np.exp(inputs["log_decay"])
    return start, wide | {"k": free * inputs["k"], "log_decay": inputs["log_decay"]}


def at_angle_zero(state, inputs):
    S, z = state
    return (S, 0 * S, z, 0 * z, 0 * z[..., :1]), inputs | {"angle": per_head(0)(inputs)}


def in_every_value_channel(inputs):
    return np.repeat(inputs["log_decay"][..., None], inputs["v"].shape[-1], axis=-1)


def one_value(state, inputs):
    first = {"v": inputs["v"][..., :1], "log_decay": inputs["log_decay"][..., :1]}
    return (state[0][..., :1],), inputs | first


HADAMARD = "hadamard_gated_linear_attention"
EDGES = (
    Edge("gla", HADAMARD, "log_decay constant over the values", adding(log_decay=in_every_value_channel)),
    Edge("mamba", HADAMARD, "log_decay (dt A)^T, values dt v, plus D v", times_dt, plus_skip),
    Edge("mamba2", "simple_gla", "log_decay dt A, values dt v, plus D v", times_dt, plus_skip),
    Edge("mamba2", "mamba", "A, dt and D constant over a head", lambda s, x: (s, x | in_every_channel(x))),
    Edge(
        "linear_attention",
        "mamba2",
        "dt = 1, A = 0, D = 0, queries times the scale",
        adding("scale", q=lambda x: x["scale"] * x["q"], dt=per_token(1), A=per_head(0), D=per_head(0)),
    ),
    Edge("hgrn2", "gla", "k = 1 - exp(log_decay)", adding(k=lambda x: 1 - np.exp(x["log_decay"]))),
    Edge("hgrn2", "metala", "w = 0, less 1/2", adding(w=per_channel(0.0, "q")), lambda o, x: (2 * o - 1) / 2),
    Edge("lightning_attention", "retention", "the same log_decay", adding()),
    Edge("linear_attention", "lightning_attention", "log_decay = 0", adding(log_decay=per_head(0))),
    Edge(
        "gated_rfa",
        "simple_gla",
        "keys (1 - alpha) k, values and ones",
        with_free_keys_and_ones,
        over_the_ones,
        split_ones,
    ),
    Edge(
        "power_attention",
        "simple_gla",
        "pairs of channels, values and ones",
        with_pairs_and_ones,
        over_the_ones,
        split_pairs,
    ),
    Edge("normalised_linear_attention", "cosformer", "angle = 0", at_angle_zero, state_back=lambda s: (s[0], s[2])),
    Edge(
        "linear_attention",
        HADAMARD,
        "log_decay = 0",
        adding(log_decay=lambda x: np.zeros((*x["k"].shape, x["v"].shape[-1]))),
    ),
)
MEETINGS = (
    Edge(
        HADAMARD,
        "gla",
        "its own log_decay",
        adding(log_decay=lambda x: x["log_decay"][..., 0]),
        where=one_value,
        given="there is one value channel",
    ),
)
LOOKALIKES = (
    Edge("hgrn2", "gla", "keys of ones", adding(k=lambda x: 1 + 0 * x["q"])),
    Edge("metala", "hgrn2", "w dropped: the augmentation is at least 0", adding("w")),
    Edge(
        "gated_rfa",
        "simple_gla",
        "keys k: the write has the factor 1 - alpha",
        lambda s, x: (with_ones(s, x)[0], with_ones(s, x)[1] | {"log_decay": x["log_decay"]}),
        over_the_ones,
        split_ones,
    ),
    Edge("mamba2", "simple_gla", "the skip dropped", times_dt),
    Edge(
        "power_attention",
        "gated_rfa",
        "scores not squared",
        lambda s, x: ((s[0][..., 0, :, :], s[1][..., 0, :]), x),
        state_back=None,
    ),
)
