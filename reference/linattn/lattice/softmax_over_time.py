"""How memories that are a softmax over time reduce to others, slots among them, and what is only taken for it."""

import numpy as np

from linattn.algebra import transpose
from linattn.families import entering
from linattn.lattice.edge import Edge, log_decay_of


def shares(n, m, scores):
    """Of what there was and of every token, in the softmax over time."""
    rows = []
    for t in range(scores.shape[-2]):
        keep, write, n, m = entering(n, m, scores[..., t, :])
        rows.append((keep, write))
    return (np.stack(row, axis=-2) for row in zip(*rows, strict=True))


def softmax_gates(name, strength):
    """The gates of a memory that is a softmax over time."""

    def into(state, x):
        *memories, n, m = state
        keep, write = shares(n, m, x[name])
        return tuple(memories), x | {"log_decay": log_decay_of(keep), strength: write}

    return into


def channel_by_channel(state, x):
    """A head with one key channel, one value channel and the query 1 for every channel of RWKV-4."""
    N, D, m = state
    k, v = (transpose(x[name])[..., None] for name in ("k", "v"))
    return ((N / D)[..., None, None], D[..., None], m[..., None]), {"q": 1 + 0 * v, "k": k, "v": v, "scale": 1}


def without_decay(state, x):
    return state, x | {"u": 0 * x["u"], "log_decay": 0 * x["u"]}


def with_one_slot(state, x):
    """The first."""
    matrices, vectors = (part[..., :1, :] for part in state[:2]), (part[..., :1] for part in state[2:])
    return (*matrices, *vectors), x | {name: x[name][..., :1] for name in ("s", "log_decay") if name in x}


def slot_as_channel(x):
    """Which every query sees as it is."""
    return {"k": x["s"], "v": x["v"], "q": 1 + 0 * x["v"][..., :1], "scale": 1}


EDGES = (
    Edge(
        "lightnet",
        "gla",
        "exp(log_decay) and keys the shares of a softmax over time",
        softmax_gates("k", "k"),
        state_back=None,
    ),
    Edge(
        "abc",
        "gsa",
        "exp(log_decay) and s the shares of a softmax over time",
        softmax_gates("s", "s"),
        state_back=None,
    ),
)
MEETINGS = (
    Edge(
        "rwkv4",
        "lightnet",
        "queries 1, a head for every channel",
        channel_by_channel,
        lambda output, x: transpose(output[..., 0]),
        None,
        without_decay,
        "log_decay = u = 0",
    ),
    Edge(
        "gsa",
        "simple_gla",
        "keys s, queries 1",
        lambda s, x: ((s[1],), slot_as_channel(x) | {"log_decay": x["log_decay"]}),
        state_back=None,
        where=with_one_slot,
        given="there is one slot",
    ),
    Edge(
        "abc",
        "lightnet",
        "one channel, queries 1",
        lambda s, x: (s[1:], slot_as_channel(x)),
        state_back=None,
        where=with_one_slot,
        given="there is one slot",
    ),
)
LOOKALIKES = (
    Edge(
        "lightnet",
        "gla",
        "keys exp(k) without a decay: the shares add up to 1",
        lambda state, x: (state[:1], x | {"k": np.exp(x["k"]), "log_decay": np.zeros(x["k"].shape)}),
    ),
    Edge(
        "abc",
        "gsa",
        "s = exp(s) without a decay: the shares add up to 1",
        lambda state, x: (state[:2], x | {"s": np.exp(x["s"]), "log_decay": np.zeros(x["s"].shape)}),
    ),
)
