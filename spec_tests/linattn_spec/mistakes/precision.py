"""Precision lower than promised."""

from typing import Any

import numpy as np

from linattn.algebra import read
from linattn_spec import frameworks
from linattn_spec.mistakes.record import (
    Array,
    Mistake,
    with_final_state,
    with_inputs,
    with_output,
    with_state,
    with_step,
)


def rounded(x: Array, dtype: str) -> Array:
    return frameworks.typed(np.asarray(x, dtype=float), dtype).values.astype(np.asarray(x).dtype)


def state_in(dtype: str) -> Any:
    """The state is kept in a dtype between tokens."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        after, output = step(*state, **token)
        return tuple(rounded(x, dtype) for x in after), output

    return with_step(changed)


def read_of_a_rounded_state(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """The state stays as it is: what is read is rounded to bfloat16."""
    after, _ = step(*state, **token)
    return after, token["scale"] * read(token["q"], rounded(after[0], "bfloat16"))


def read_summed_in(dtype: str) -> Any:
    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        after, _ = step(*state, **token)
        total = np.zeros_like(token["v"])
        for i in range(token["q"].shape[-1]):
            total = rounded(total + token["q"][..., i, None] * after[0][..., i, :], dtype)
        return after, token["scale"] * total

    return changed


FP32 = ("fp32",)


PRECISION = (
    Mistake(
        "state-in-bfloat16",
        "precision",
        "The state is kept in bfloat16.",
        state_in("bfloat16"),
        ("fixed state",),
        profiles=("fp32", "fp16"),
    ),
    Mistake(
        "state-in-float16",
        "precision",
        "The state is kept in float16.",
        state_in("float16"),
        ("fixed state",),
        profiles=FP32,
    ),
    Mistake(
        "outputs-through-bfloat16",
        "precision",
        "Outputs pass through bfloat16.",
        with_output(lambda x, c: rounded(x, "bfloat16")),
        profiles=FP32,
    ),
    Mistake(
        "outputs-through-float16",
        "precision",
        "Outputs pass through float16.",
        with_output(lambda x, c: rounded(x, "float16")),
        profiles=FP32,
    ),
    Mistake(
        "final-state-through-bfloat16",
        "precision",
        "The final state passes through bfloat16.",
        with_final_state(lambda x, c: rounded(x, "bfloat16")),
        ("fixed state",),
        profiles=FP32,
    ),
    Mistake(
        "reads-of-a-bfloat16-state",
        "precision",
        "The state is rounded to bfloat16 for the read.",
        with_step(read_of_a_rounded_state),
        ("matrix state",),
        profiles=FP32,
    ),
    Mistake(
        "gates-in-bfloat16",
        "precision",
        "Gates are rounded to bfloat16.",
        with_inputs(log_decay=lambda x, c: rounded(x, "bfloat16")),
        ("log_decay",),
        profiles=FP32,
    ),
    Mistake(
        "gates-in-float16",
        "precision",
        "Gates are rounded to float16.",
        with_inputs(log_decay=lambda x, c: rounded(x, "float16")),
        ("log_decay",),
        profiles=FP32,
    ),
    Mistake(
        "final-state-through-float16",
        "precision",
        "The final state passes through float16.",
        with_final_state(lambda x, c: rounded(x, "float16")),
        ("fixed state",),
        profiles=FP32,
    ),
    Mistake(
        "initial-state-in-bfloat16",
        "precision",
        "The incoming state is rounded to bfloat16.",
        with_state(lambda x, c: rounded(x, "bfloat16")),
        ("fixed state",),
        profiles=FP32,
    ),
    Mistake(
        "initial-state-in-float16",
        "precision",
        "The incoming state is rounded to float16.",
        with_state(lambda x, c: rounded(x, "float16")),
        ("fixed state",),
        profiles=FP32,
    ),
    Mistake(
        "sums-in-bfloat16",
        "precision",
        "The sum over the key channels is rounded to bfloat16 after every term.",
        with_step(read_summed_in("bfloat16")),
        ("scale", "matrix state"),
        profiles=("fp32", "fp16"),
    ),
    Mistake(
        "sums-in-float16",
        "precision",
        "The sum over the key channels is rounded to float16 after every term.",
        with_step(read_summed_in("float16")),
        ("scale", "matrix state"),
        profiles=FP32,
    ),
)
