"""How memories of exponential weights reduce to others, and what is only taken for it."""

import numpy as np

from linattn.activations import logsigmoid
from linattn.algebra import maximum, sigmoid
from linattn.families import with_ones
from linattn.lattice.edge import Edge, adding, later, of, per_token


def weights_of(S, z, m):
    """What a relative state stands for."""
    return S * np.exp(m)[..., None], z * np.exp(m)


def exponentials(state, x):
    return weights_of(*state), {"q": np.exp(x["q"]), "k": np.exp(x["k"]), "v": x["v"], "eps": 0}


def numerator(*gates, **values):
    """Of values and ones, whose sum is the normaliser."""

    def into(state, x):
        S, z = weights_of(*state) if len(state) == 3 else state
        memory = np.concatenate([S, z[..., None]], axis=-1)
        return of("q", "k", "log_decay", "scale", *gates, **values)((memory,), x)

    return into


def over_at_least_one(output, x):
    total = output[..., -1:]
    return output[..., :-1] / maximum(maximum(total, -total), 1 + 0 * total)


def with_log_input(state, x):
    S, z = state
    return (S, z, np.zeros(z.shape[:-1] + (1,))), adding("i", log_input=lambda x: np.log(x["i"]))(state, x)[1]


def sums_before(state, x):
    """Of weighted values and of weights. The read is exclusive, which is inclusive one token later."""
    N, D, m = state
    weights = np.exp(x["k"])
    written = np.concatenate([weights * x["v"], weights], axis=-1)
    decay = np.broadcast_to(np.concatenate([x["log_decay"]] * 2, axis=-1)[..., None, :], written.shape)
    start = np.concatenate([N * np.exp(m), D * np.exp(m)], axis=-1)
    return (start,), {"x": later(written, written), "log_decay": later(decay, written)}


def with_the_token(output, x):
    own, width = np.exp(x["u"][..., None, :] + x["k"]), x["v"].shape[-1]
    return (output[..., :width] + own * x["v"]) / (output[..., width:] + own)


def constant_decay(state, x):
    """The exclusive read with the bonus -w is the inclusive one."""
    log_decay = logsigmoid(x["f"][..., 0, :])
    return state[:3], {"k": x["i"], "v": np.tanh(x["z"]), "log_decay": log_decay, "u": -log_decay}


def with_one_gate(state, x):
    alone = {name: 0 * x[name] for name in x if name.startswith("R")}
    return state, x | alone | {"f": x["f"][..., :1, :] + 0 * x["f"]}


EDGES = (
    Edge(
        "exp_linear_attention",
        "normalised_linear_attention",
        "features exp(q) and exp(k), eps = 0",
        exponentials,
        state_back=None,
    ),
    Edge(
        "mlstm",
        "simple_gla",
        "values exp(log_input) v and exp(log_input), divided by at least 1",
        numerator(v=lambda x: np.exp(x["log_input"]) * with_ones(x["v"])),
        over_at_least_one,
        None,
        proof="bytes",  # the larger of two numbers
    ),
    Edge("simple_gla", "mlstm_sigmoid", "i = 1", adding(i=per_token(1))),
    Edge("mlstm_sigmoid", "simple_gla", "keys i k", adding("i", k=lambda x: x["i"] * x["k"])),
    Edge(
        "mlstm_sigmoid_normalised",
        "mlstm_sigmoid",
        "values and ones, divided by at least 1",
        numerator("i", v=lambda x: with_ones(x["v"])),
        over_at_least_one,
        lambda state: (state[0][..., :-1], state[0][..., -1]),
    ),
    Edge(
        "mlstm_sigmoid_normalised",
        "mlstm",
        "log_input log i, m = 0",
        with_log_input,
        state_back=lambda state: weights_of(*state),
        proof="bytes",  # the larger of two numbers
    ),
    Edge(
        "rwkv4",
        "linear_recurrence",
        "inputs exp(k) v and exp(k), one token later; plus the token itself, divided",
        sums_before,
        with_the_token,
        None,
    ),
)
MEETINGS = (
    Edge(
        "slstm",
        "rwkv4",
        "u = -log_decay, values tanh(z), times sigmoid(o)",
        constant_decay,
        lambda output, x: sigmoid(x["o"]) * output,
        None,
        with_one_gate,
        "R = 0 and f is constant over the tokens",
        proof="bytes",  # exp(x + y) = exp(x) exp(y)
    ),
)
LOOKALIKES = (
    Edge("mlstm_sigmoid_normalised", "mlstm_sigmoid", "the denominator dropped", lambda state, x: (state[:1], x)),
)
