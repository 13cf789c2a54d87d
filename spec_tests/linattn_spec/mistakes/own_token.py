"""What a token adds to its own output beside the memory: the bonus of RWKV and the skip of Mamba."""

import numpy as np

from linattn_spec.mistakes.record import Mistake, with_inputs

OWN_TOKEN = (
    Mistake(
        "bonus-missing",
        "own token",
        "The token itself is not read: the bonus u is taken for 0.",
        with_inputs(u=lambda u, call: np.zeros_like(u)),
        ("u",),
    ),
    Mistake(
        "bonus-ignored",
        "own token",
        "The token itself is read like any other: the bonus u is taken for 1.",
        with_inputs(u=lambda u, call: np.ones_like(u)),
        ("u",),
    ),
    Mistake(
        "skip-missing",
        "own token",
        "The skip is missing: D is taken for 0.",
        with_inputs(D=lambda D, call: np.zeros_like(D)),
        ("D",),
    ),
    Mistake(
        "skip-ignored",
        "own token",
        "The value itself is added: D is taken for 1.",
        with_inputs(D=lambda D, call: np.ones_like(D)),
        ("D",),
    ),
)
