"""How the variants that turn and the elementwise scans reduce to others, and what is only taken for it."""

import numpy as np

from linattn.algebra import rotate
from linattn.lattice import Edge, adding
from linattn.norms import rms_norm


def as_gateloop(state, inputs):
    (S,) = state
    kept = {name: inputs[name] for name in ("k", "v", "log_decay")}
    return (S, 0 * S), kept | {"q": inputs["scale"] * inputs["q"], "angle": np.zeros(inputs["k"].shape)}


def one_per_token(number):
    return lambda inputs: np.full((*inputs["v"].shape[:-1], 1), float(number))


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
            "dt": inputs["dt"] if mamba else one_per_token(1)(inputs),
            "trap": one_per_token(trap)(inputs),
            "angle": np.zeros((*v.shape[:-1], 1)),
            "D": inputs["D"] if mamba else np.zeros(S.shape[:-2] + (1,)),
        }

    return into


def turned(state, inputs):
    """The queries and keys of RetNet, rotated."""
    S, phase = state
    phases = np.stack([phase + t * inputs["angle"] for t in range(inputs["q"].shape[-2])], axis=-2)
    pair = {name: rotate(inputs[name], phases) for name in ("q", "k")}
    return (S,), pair | {name: inputs[name] for name in ("v", "log_decay", "scale")}


def not_turned(state, inputs):
    return state[:1], {name: inputs[name] for name in ("q", "k", "v", "log_decay", "scale")}


def divided(output, inputs):
    return rms_norm(output, eps=inputs["eps"])


def one_key(state, inputs):
    """A channel of a scan is a value channel of a memory with one key."""
    (h,) = state
    ones = 1 + np.zeros((*inputs["x"].shape[:-1], 1))
    decay = inputs["log_decay"][..., None, :]
    return (h[..., None, :],), {"q": ones, "k": ones, "v": inputs["x"], "log_decay": decay, "scale": 1}


def side_by_side(state, inputs):
    """The states of all channels of S4D as those of S5."""

    def flat(x):
        return x.reshape(*x.shape[:-2], -1)

    channels, own = inputs["B_real"].shape[-2:]
    mine = np.repeat(np.eye(channels, dtype=int), own, axis=0)  # (D N, D)
    weights = {name: flat(inputs[name]) for name in ("B_real", "B_imag", "C_real", "C_imag")}
    return tuple(flat(h) for h in state), inputs | {
        "log_decay": flat(inputs["log_decay"]),
        "angle": flat(inputs["angle"]),
        **{name: x[..., :, None] * mine for name, x in weights.items() if name.startswith("B")},
        **{name: x[..., None, :] * mine.T for name, x in weights.items() if name.startswith("C")},
    }


def free(x):
    return 1 - np.exp(x["log_decay"])


def root(x):
    return np.sqrt(1 - np.exp(x["log_decay"]) * np.exp(x["log_decay"])) * (x["i"] * x["x"])


EDGES = (
    Edge("gla", "gateloop", "angle = 0, queries times the scale", as_gateloop, state_back=lambda s: s[:1]),
    Edge("mamba2", "mamba3", "trap = 1, angle = 0, log_decay dt A", as_mamba3(1), state_back=lambda s: s[:1]),
    Edge(
        "simple_gla",
        "mamba3",
        "trap = 1, angle = 0, dt = 1, D = 0, queries times the scale",
        as_mamba3(1),
        state_back=lambda s: s[:1],
    ),
    Edge(
        "retnet",
        "retention",
        "queries and keys rotated, outputs divided by their root mean square",
        turned,
        divided,
        state_back=None,
    ),
    Edge(
        "linear_recurrence",
        "hadamard_gated_linear_attention",
        "one key channel, q = k = 1, scale 1",
        one_key,
        state_back=lambda s: (s[0][..., 0, :],),
    ),
    Edge("hgrn", "linear_recurrence", "inputs (1 - exp(log_decay)) x", adding(x=lambda x: free(x) * x["x"])),
    Edge("rg_lru", "linear_recurrence", "inputs sqrt(1 - exp(log_decay)^2) i x", adding("i", x=root)),
    Edge("hgrn", "min_gru", "z = 1 - exp(log_decay)", adding("log_decay", z=free)),
    Edge("min_gru", "min_lstm", "f = 1 - z, i = z", adding("z", f=lambda x: 1 - x["z"], i=lambda x: x["z"])),
    Edge("s4d", "s5", "the states of all channels side by side", side_by_side, state_back=None),
    Edge(
        "s5",
        "lru",
        "gamma = 1, output matrix 2 C",
        adding(
            gamma=lambda x: np.ones(x["log_decay"].shape),
            C_real=lambda x: 2 * x["C_real"],
            C_imag=lambda x: 2 * x["C_imag"],
        ),
    ),
    Edge(
        "lru",
        "s5",
        "input matrix gamma B, output matrix C / 2",
        adding(
            "gamma",
            B_real=lambda x: x["gamma"][..., None] * x["B_real"],
            B_imag=lambda x: x["gamma"][..., None] * x["B_imag"],
            C_real=lambda x: x["C_real"] / 2,
            C_imag=lambda x: x["C_imag"] / 2,
        ),
    ),
)
LOOKALIKES = (
    Edge("gateloop", "gla", "the angles dropped", lambda s, x: (s[:1], adding("angle", scale=lambda x: 1)((), x)[1])),
    Edge("mamba2", "mamba3", "trap = 0: that writes the token before", as_mamba3(0)),
    Edge("retnet", "retention", "the rotation dropped", not_turned, divided),
    Edge("retnet", "retention", "the norm dropped", turned),
    Edge("rg_lru", "hgrn", "inputs i x: that writes them times 1 - decay", adding("i", x=lambda x: x["i"] * x["x"])),
    Edge(
        "hgrn",
        "min_gru",
        "z = exp(log_decay): z is the weight of the new state",
        adding("log_decay", z=lambda x: np.exp(x["log_decay"])),
    ),
    Edge("s5", "lru", "gamma = 1: the real part is read once", adding(gamma=lambda x: np.ones(x["log_decay"].shape))),
    Edge("lru", "s5", "gamma dropped, output matrix C / 2", adding("gamma", C_real=lambda x: x["C_real"] / 2)),
)
