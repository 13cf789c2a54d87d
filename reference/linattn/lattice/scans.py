"""How the elementwise scans and the ancestors reduce to one another, and what is only taken for it."""

import numpy as np

from linattn.algebra import sigmoid, transpose, turn
from linattn.lattice.edge import Edge, adding, log_decay_of


def one_key(state, inputs):
    """A channel of a scan is a value channel of a memory with one key."""
    (h,) = state
    ones = 1 + np.zeros((*inputs["x"].shape[:-1], 1))
    decay = inputs["log_decay"][..., None, :]
    return (h[..., None, :],), {"q": ones, "k": ones, "v": inputs["x"], "log_decay": decay, "scale": 1}


def free(x):
    return 1 - np.exp(x["log_decay"])


def root(x):
    return np.sqrt(1 - np.exp(x["log_decay"]) * np.exp(x["log_decay"])) * (x["i"] * x["x"])


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


def at_every_token(parameter, inputs):
    return np.broadcast_to(parameter[..., None, :], (*inputs["x"].shape[:-1], parameter.shape[-1]))


def phases(inputs):
    return np.cumsum(at_every_token(inputs["angle"], inputs), axis=-2)


def in_a_turning_frame(state, inputs):
    """There the eigenvalues of the LRU are real: the real and the imaginary parts are channels of their own."""
    real, imag = (
        inputs["gamma"][..., None, :] * (inputs["x"] @ transpose(inputs[name])) for name in ("B_real", "B_imag")
    )
    x = np.concatenate(turn(real, imag, -phases(inputs)), axis=-1)
    log_decay = np.concatenate([at_every_token(inputs["log_decay"], inputs)] * 2, axis=-1)
    return (np.concatenate(state, axis=-1),), {"x": x, "log_decay": log_decay}


def read_from_the_frame(output, inputs):
    width = output.shape[-1] // 2
    real, imag = turn(output[..., :width], output[..., width:], phases(inputs))
    read = real @ transpose(inputs["C_real"]) - imag @ transpose(inputs["C_imag"])
    return read + inputs["D"][..., None, :] * inputs["x"]


def without_recurrence(state, inputs):
    return state, {name: 0 * x if name.startswith("R") else x for name, x in inputs.items()}


def as_min_gru(state, inputs):
    return state, {"x": np.tanh(inputs["x_n"]), "z": 1 - sigmoid(inputs["x_z"])}


def without_memory(state, inputs):
    return state, {"x": np.tanh(inputs["x"]), "log_decay": np.full(inputs["x"].shape, -np.inf)}


def cell(state, inputs):
    _, c = state
    x = sigmoid(inputs["x_i"]) * np.tanh(inputs["x_g"])
    return (c,), {"x": x, "log_decay": log_decay_of(sigmoid(inputs["x_f"]))}


EDGES = (
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
    Edge(
        "min_gru",
        "linear_recurrence",
        "log_decay log(1 - z), inputs z x",
        adding("z", log_decay=lambda x: log_decay_of(1 - x["z"]), x=lambda x: x["z"] * x["x"]),
    ),
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
    Edge(
        "lru",
        "linear_recurrence",
        "twice the channels, inputs gamma B x turned back by all angles so far, read turned by C",
        in_a_turning_frame,
        read_from_the_frame,
        None,
    ),
)
MEETINGS = (
    Edge(
        "rnn",
        "linear_recurrence",
        "log_decay = -inf, x = tanh(x)",
        without_memory,
        where=without_recurrence,
        given="R = 0",
    ),
    Edge(
        "lstm",
        "linear_recurrence",
        "log_decay log f, x = i tanh(g), read by o tanh",
        cell,
        lambda output, inputs: sigmoid(inputs["x_o"]) * np.tanh(output),
        None,
        without_recurrence,
        "R = 0",
    ),
    Edge("gru", "min_gru", "x = tanh(n), z for 1 - z", as_min_gru, where=without_recurrence, given="R = 0"),
)
LOOKALIKES = (
    Edge("rg_lru", "hgrn", "inputs i x: that writes them times 1 - decay", adding("i", x=lambda x: x["i"] * x["x"])),
    Edge(
        "hgrn",
        "min_gru",
        "z = exp(log_decay): z is the weight of the new state",
        adding("log_decay", z=lambda x: np.exp(x["log_decay"])),
    ),
    Edge(
        "gru",
        "min_gru",
        "the same z: there it is the weight of the old state",
        lambda state, x: (state, {"x": np.tanh(x["x_n"]), "z": sigmoid(x["x_z"])}),
        where=without_recurrence,
        given="R = 0",
    ),
    Edge("s5", "lru", "gamma = 1: the real part is read once", adding(gamma=lambda x: np.ones(x["log_decay"].shape))),
    Edge("lru", "s5", "gamma dropped, output matrix C / 2", adding("gamma", C_real=lambda x: x["C_real"] / 2)),
)
