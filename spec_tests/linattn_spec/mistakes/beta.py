"""The writing strength taken for something else, or from somewhere else."""

import numpy as np

from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.record import Mistake, with_inputs

BETA = (
    Mistake("beta-ignored", "beta", "beta is ignored.", with_inputs(beta=lambda x, c: 0 * x + 1), ("beta per token",)),
    Mistake("beta-twice", "beta", "beta is applied twice.", with_inputs(beta=lambda x, c: x * x), ("beta per token",)),
    Mistake(
        "beta-halved",
        "beta",
        "A beta of up to 2 is not doubled.",
        with_inputs(beta=lambda x, c: x / 2),
        ("beta per token",),
    ),
    Mistake(
        "beta-doubled", "beta", "beta is doubled once more.", with_inputs(beta=lambda x, c: 2 * x), ("beta per token",)
    ),
    Mistake(
        "beta-clamped-at-1",
        "beta",
        "beta above 1 is clamped.",
        with_inputs(beta=lambda x, c: np.minimum(x, 1)),
        ("beta per token",),
    ),
    Mistake(
        "beta-of-the-first-head",
        "beta",
        "All heads write with the beta of the first one.",
        with_inputs(beta=lambda x, c: first_of(x, 1)),
        ("beta per token",),
    ),
    Mistake(
        "beta-of-the-next-token",
        "beta",
        "Token t writes with the beta of t + 1.",
        with_inputs(beta=lambda x, c: shifted(x, -1)),
        ("beta per token",),
        seen_by=("golden", "prefix"),
    ),
    Mistake(
        "beta-of-the-token-before",
        "beta",
        "Token t writes with the beta of t - 1.",
        with_inputs(beta=lambda x, c: shifted(x, 1)),
        ("beta per token",),
    ),
)
