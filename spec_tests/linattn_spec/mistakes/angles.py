"""Angles: how far, and which way, channels turn."""

import numpy as np

from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.record import CAUSAL, Array, Call, Mistake, with_inputs


def negated(x: Array, call: Call) -> Array:
    return -x


ANGLES = (
    Mistake(
        "angles-negated",
        "rotation",
        "Everything turns the other way.",
        with_inputs(angle=negated),
        ("angle",),
        CAUSAL,  # without a state, one angle between two tokens has no sign: only its cosine counts
    ),
    Mistake("angles-ignored", "rotation", "Nothing turns.", with_inputs(angle=lambda x, c: 0 * x), ("angle",)),
    Mistake(
        "angles-doubled",
        "rotation",
        "Everything turns twice as far.",
        with_inputs(angle=lambda x, c: 2 * x),
        ("angle",),
    ),
    Mistake(
        "angles-in-turns",
        "rotation",
        "Angles are taken for whole turns, not for radians.",
        with_inputs(angle=lambda x, c: 2 * np.pi * x),
        ("angle",),
    ),
    Mistake(
        "angles-of-the-first-head",
        "heads",
        "All heads turn like the first one.",
        with_inputs(angle=lambda x, c: first_of(x, 1 if x.ndim == 4 else 0)),
        ("angle",),
    ),
    Mistake(
        "angles-a-token-late",
        "rotation",
        "Token t turns by the angle of t - 1.",
        with_inputs(angle=lambda x, c: shifted(x, 1)),
        ("angle per token",),
    ),
)
