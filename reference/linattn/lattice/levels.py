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


EDGES = tuple(
    Edge(special, f"log_linear_{special}", "level_scale = 1", all_in_the_last_level, state_back=summed_levels)
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
)
