"""Precision lower than promised, and memory that is not what it should be."""

from typing import Any

import numpy as np

from linattn.algebra import read
from linattn_spec import frameworks
from linattn_spec.mistakes.record import (
    CHUNK,
    Array,
    Call,
    Mistake,
    Results,
    right,
    with_final_state,
    with_inputs,
    with_output,
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


def poisoned(call: Call) -> Results:
    """0 times NaN: what should be selected away is multiplied away."""
    results = right(call)
    output = np.array(results["output"])
    output[:, :, -1, -1] = np.nan
    return {**results, "output": output}


def one_element(x: Array, call: Call) -> Array:
    changed = np.array(x)
    changed[0, 0, x.shape[2] // 2, 0] += 0.05 * np.abs(x).max()
    return changed


def tokens_exchanged(x: Array, call: Call) -> Array:
    if x.shape[2] < 3:
        return x
    order = np.arange(x.shape[2])
    middle = x.shape[2] // 2
    order[[middle, middle + 1]] = middle + 1, middle
    return x[:, :, order]


def later_zero(x: Array, call: Call) -> Array:
    """Tokens beyond the last full chunk are never computed."""
    full = x.shape[2] // CHUNK * CHUNK
    return x if full == 0 else np.concatenate([x[:, :, :full], 0 * x[:, :, full:]], axis=2)


FP32 = ("fp32",)


PRECISION = (
    Mistake(
        "state-in-bfloat16", "precision", "The state is kept in bfloat16.", state_in("bfloat16"), ("S",), profiles=FP32
    ),
    Mistake(
        "state-in-float16", "precision", "The state is kept in float16.", state_in("float16"), ("S",), profiles=FP32
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
        ("S",),
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
)

MEMORY = (
    Mistake("padding-multiplied-away", "memory", "NaN from padding survives a multiplication by 0.", poisoned),
    Mistake("one-wrong-element", "memory", "One element is hit by another write.", with_output(one_element)),
    Mistake("two-tokens-exchanged", "memory", "Two neighbouring outputs are exchanged.", with_output(tokens_exchanged)),
    Mistake(
        "tail-chunk-not-computed",
        "ragged end",
        "Tokens beyond the last full chunk of 16 are zero.",
        with_output(later_zero),
        seen_in=("https://github.com/fla-org/flash-linear-attention/issues/1142",),
    ),
    Mistake("outputs-zero", "memory", "Outputs are never written.", with_output(lambda x, c: 0 * x)),
    Mistake("outputs-negated", "memory", "Outputs have the wrong sign.", with_output(lambda x, c: -x)),
)
