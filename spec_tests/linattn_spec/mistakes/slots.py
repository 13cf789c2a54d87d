"""Two passes over slots: scores of their keys, a softmax, a mean of their values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import read, transpose
from linattn.families import softmax
from linattn.variants import abc
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step


def passes(
    scores_to_weights: Callable[[Array], Array], keys_of: int = 0, values_of: int = 0
) -> Callable[[Call], Results]:
    """Other weights of the slots; 1 reads the slots after the write, 0 those before it."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        after, _ = step(*state, **token)
        keys, values = (state, after)[keys_of][0], (state, after)[values_of][1]
        scores = read(token["q"], transpose(keys))
        return after, read(scores_to_weights(token["scale"] * scores), values)

    return with_step(changed)


def scaled_after(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, output = step(*state, **{**token, "scale": np.ones_like(token["scale"])})
    return after, token["scale"] * output


def added(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    return abc.never_rescaled(*state, **token)


SLOTS_READ = ("keys", "values", "s")

SLOTS = (
    Mistake(
        "slot-scores-not-normalised",
        "normaliser",
        "There is no softmax between the passes.",
        passes(lambda x: x, 1, 1),
        SLOTS_READ,
    ),
    Mistake(
        "slot-scores-exponentiated-alone",
        "normaliser",
        "The exponentials of the slots' scores are not divided by their sum.",
        passes(np.exp, 1, 1),
        SLOTS_READ,
    ),
    Mistake(
        "slot-keys-before-the-write",
        "order",
        "Scores are those of the slots before the write.",
        passes(softmax, 0, 1),
        SLOTS_READ,
    ),
    Mistake(
        "slot-values-before-the-write",
        "order",
        "Values are those of the slots before the write.",
        passes(softmax, 1, 0),
        SLOTS_READ,
    ),
    Mistake(
        "slot-scale-after-the-softmax",
        "scale",
        "The scale is applied to the outputs, not to the scores.",
        with_step(scaled_after),
        SLOTS_READ,
    ),
    Mistake(
        "slot-gate-missing",
        "gate",
        "Slots are written with weight 1: the complement of the decay is missing.",
        with_inputs(s=lambda s, c: np.ones_like(s)),
        ("gsa",),
    ),
    Mistake(
        "slot-gate-complemented",
        "gate",
        "Slots are written with the complement of their weight.",
        with_inputs(s=lambda s, c: 1 - s),
        ("gsa",),
    ),
    Mistake(
        "slot-scores-through-a-softmax",
        "features",
        "The writing strengths go through a softmax over slots.",
        with_inputs(s=lambda s, c: softmax(s)),
        ("gsa",),
    ),
    Mistake(
        "slots-never-rescaled",
        "normaliser",
        "What a slot holds is not scaled down as its total weight grows: the other reading of the paper.",
        with_step(added),
        ("abc",),
    ),
)
