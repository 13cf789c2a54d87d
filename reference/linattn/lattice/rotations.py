"""How the variants that turn reduce to others, and what is only taken for it."""

import numpy as np

from linattn.algebra import dot, outer, turn
from linattn.lattice.edge import Edge, adding, of, over_the_ones, per_token
from linattn.norms import rms_norm
from linattn.rotary import rotate


def as_gateloop(state, inputs):
    (S,) = state
    kept = {name: inputs[name] for name in ("k", "v", "log_decay")}
    return (S, 0 * S), kept | {"q": inputs["scale"] * inputs["q"], "angle": np.zeros(inputs["k"].shape)}


def in_a_turning_frame(state, inputs):
    """There the decays are real: the real and the imaginary parts are channels of their own."""
    S_real, S_imag = state
    phase = np.cumsum(inputs["angle"], axis=-2)
    q, k = (np.concatenate(turn(inputs[name], 0 * inputs[name], phase), axis=-1) for name in ("q", "k"))
    log_decay = np.concatenate([inputs["log_decay"]] * 2, axis=-1)
    start = np.concatenate([S_real, -S_imag], axis=-2)
    return (start,), {"q": q, "k": k, "v": inputs["v"], "log_decay": log_decay, "scale": 1}


def with_one_angle(state, inputs):
    """The memories of cosFormer stand still; those of GateLoop have turned with the tokens."""
    S_cos, S_sin, z_cos, z_sin, position = state
    cos, sin = (np.concatenate([S, z[..., None]], axis=-1) for S, z in ((S_cos, z_cos), (S_sin, z_sin)))
    k, v = inputs["k"], np.concatenate([inputs["v"], per_token(1)(inputs)], axis=-1)
    angle = np.broadcast_to(inputs["angle"][..., None, :], k.shape)
    start = turn(cos, -sin, (inputs["angle"] * position)[..., None])
    return start, {"q": inputs["q"], "k": k, "v": v, "log_decay": np.zeros(k.shape), "angle": angle}


def as_mamba3(trap):
    """Mamba-2, or simple GLA, which has no step size and no skip."""

    def into(state, inputs):
        (S,) = state
        k, v = inputs["k"], inputs["v"]
        mamba = "dt" in inputs
        start = (S, np.zeros((*S.shape[:-2], 1)), 0 * S[..., 0], 0 * S[..., 0, :])
        return start, {
            "q": inputs["q"] if mamba else inputs["scale"] * inputs["q"],
            "k": k,
            "v": v,
            "log_decay": inputs["dt"] * inputs["A"][..., None, :] if mamba else inputs["log_decay"],
            "dt": inputs["dt"] if mamba else per_token(1)(inputs),
            "trap": per_token(trap)(inputs),
            "angle": np.zeros((*v.shape[:-1], 1)),
            "D": inputs["D"] if mamba else np.zeros(S.shape[:-2] + (1,)),
        }

    return into


def before(inputs):
    """What a token writes of the one before it."""
    return (1 - inputs["trap"]) * inputs["dt"]


def of_the_next(inputs):
    """What the next token writes of a token."""
    return np.concatenate([before(inputs)[..., 1:, :], 0 * before(inputs)[..., :1, :]], axis=-2)


def with_the_next_write(state, inputs):
    S, phase, key, value = state
    phases = phase[..., None, :] + np.cumsum(inputs["angle"], axis=-2)
    q, k = (rotate(inputs[name], phases) for name in ("q", "k"))
    v = (inputs["trap"] * inputs["dt"] + of_the_next(inputs)) * inputs["v"]
    start = S + outer(before(inputs)[..., 0, :] * key, value)
    return (start,), {"q": q, "k": k, "v": v, "log_decay": inputs["log_decay"], "scale": 1}


def less_the_next_write(output, inputs):
    early = of_the_next(inputs) * dot(inputs["q"], inputs["k"]) * inputs["v"]
    return output - early + inputs["D"][..., None, :] * inputs["v"]


def turned(state, inputs):
    """The queries and keys of RetNet, rotated."""
    S, phase = state
    phases = np.stack([phase + t * inputs["angle"] for t in range(inputs["q"].shape[-2])], axis=-2)
    pair = {name: rotate(inputs[name], phases) for name in ("q", "k")}
    return (S,), pair | {name: inputs[name] for name in ("v", "log_decay", "scale")}


def not_turned(state, inputs):
    return of("q", "k", "v", "log_decay", "scale")(state[:1], inputs)


def divided(output, inputs):
    return rms_norm(output, eps=inputs["eps"])


EDGES = (
    Edge("gla", "gateloop", "angle = 0, queries times the scale", as_gateloop, state_back=lambda s: s[:1]),
    Edge(
        "gateloop",
        "gla",
        "twice the channels, queries and keys turned by all angles so far",
        in_a_turning_frame,
        state_back=None,
    ),
    Edge(
        "cosformer",
        "gateloop",
        "one angle, log_decay = 0, values and ones",
        with_one_angle,
        over_the_ones,
        None,
    ),
    Edge("mamba2", "mamba3", "trap = 1, angle = 0, log_decay dt A", as_mamba3(1), state_back=lambda s: s[:1]),
    Edge(
        "simple_gla",
        "mamba3",
        "trap = 1, angle = 0, dt = 1, D = 0, queries times the scale",
        as_mamba3(1),
        state_back=lambda s: s[:1],
    ),
    Edge(
        "mamba3",
        "simple_gla",
        "queries and keys turned, values with what the next token writes of them, less that, plus D v",
        with_the_next_write,
        less_the_next_write,
        None,
    ),
    Edge(
        "retnet",
        "retention",
        "queries and keys turned, outputs divided by their root mean square",
        turned,
        divided,
        None,
    ),
)
LOOKALIKES = (
    Edge("gateloop", "gla", "the angles dropped", lambda s, x: (s[:1], adding("angle", scale=lambda x: 1)((), x)[1])),
    Edge("mamba2", "mamba3", "trap = 0: that writes the token before", as_mamba3(0)),
    Edge("retnet", "retention", "the rotation dropped", not_turned, divided),
    Edge("retnet", "retention", "the norm dropped", turned),
)
