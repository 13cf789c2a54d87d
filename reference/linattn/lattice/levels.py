"""How a memory for each power of two of the past reduces to one memory, and what is only taken for it."""

import numpy as np

from linattn.lattice.edge import Edge, of

LEVELS = 4  # any number will do


def all_in_the_last_level(state, x):
    """Any level may hold what there was: the last one is never handed on."""
    (S,) = state
    levels = np.stack([0 * S] * (LEVELS - 1) + [S], axis=-3)
    ones = np.ones((*x["v"].shape[:-1], LEVELS), dtype=int)
    return (levels, np.zeros(levels.shape[:-2], dtype=int)), x | {"level_scale": ones}


def summed_levels(state):
    return (state[0].sum(axis=-3),)


def nothing_counted(state, x):
    return (state[0], 0 * state[1]), x


EDGES = tuple(
    Edge(special, f"{hierarchy}{special}", "level_scale = 1", all_in_the_last_level, state_back=summed_levels)
    for hierarchy in ("log_linear_", "strong_log_linear_")
    for special in ("simple_gla", "gated_delta_rule")
)
LOOKALIKES = (
    Edge(
        "log_linear_simple_gla",
        "simple_gla",
        "the sum of the levels",
        lambda state, x: of("q", "k", "v", "log_decay", "scale")(summed_levels(state), x),
        state_back=None,
    ),
    *(
        Edge(name, f"strong_{name}", "the same weights", nothing_counted, state_back=None, where=nothing_counted)
        for name in ("log_linear_simple_gla", "log_linear_gated_delta_rule")
    ),
)
