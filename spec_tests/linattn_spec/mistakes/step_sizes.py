"""Step sizes and their rates, and the bonus of the token itself: Mamba, RWKV."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import outer, read, transpose
from linattn.discretise import zero_order_hold
from linattn_spec.mistakes.inside import softplus
from linattn_spec.mistakes.moved import first_of, shifted
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    with_inputs,
    with_step,
)

STEP_SIZE = ("S", "dt", "A", "D")
BONUS = ("S", "u", "scale", "log_decay")


def of(
    needs: tuple[str, ...], identity: str, sentence: str, wrong: Callable[[Call], Results], *seen_in: str, **more: Any
) -> Mistake:
    return Mistake(identity, "parameters", sentence, wrong, needs, seen_in=seen_in, **more)


# -- Mamba -------------------------------------------------------------------------------------------------------------


def with_values(value: Callable[[dict[str, Array]], Array], **inputs: Any) -> Callable[[Call], Results]:
    """Other values are written; the skip adds the right ones."""

    def changed(step: Any, state: tuple, t: dict[str, Array]) -> Any:
        state, o = step(*state, **{**t, **{name: new(t) for name, new in inputs.items()}, "v": value(t)})
        return state, o + t["D"] * (t["v"] - value(t))

    return with_step(changed)


def held(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    (S,), o = step(*state, **t)
    _, weight = zero_order_hold(t["A"], t["dt"][..., :, None])
    more = outer(t["k"], t["v"]) * (transpose(weight) - t["dt"][..., None, :])
    return (S + more,), o + read(t["q"], more)


def transposed(A: Array, call: Call) -> Array:
    """Where K = V."""
    return transpose(A) if A.shape[-1] == A.shape[-2] else A


DT_TWICE = ("https://github.com/NVlabs/MambaVision/issues/32", "https://github.com/modular/modular/pull/5748")
MAMBA = (
    of(
        STEP_SIZE,
        "step-size-not-on-values",
        "The values are not multiplied by the step size.",
        with_values(lambda t: t["v"] / (t["dt"] + 2.0**-20)),
    ),
    of(
        STEP_SIZE,
        "step-size-not-on-the-rate",
        "The decay is exp(A), whatever the step size.",
        with_values(lambda t: t["dt"] * t["v"], dt=lambda t: 0 * t["dt"] + 1),
    ),
    of(
        STEP_SIZE,
        "step-size-through-a-softplus",
        "A softplus is applied to the step size, which has been through one.",
        with_inputs(dt=lambda x, c: softplus(x)),
        *DT_TWICE,
    ),
    of(
        STEP_SIZE,
        "step-size-on-the-skip",
        "The skip is multiplied by the step size too.",
        with_step(lambda step, state, t: step(*state, **{**t, "D": t["D"] * t["dt"]})),
    ),
    of(
        STEP_SIZE,
        "rate-through-minus-exp",
        "The rate is taken as -exp of what is given.",
        with_inputs(A=lambda x, c: -np.exp(x)),
    ),
    of(STEP_SIZE, "rate-ignored", "Nothing decays: the rate is taken for 0.", with_inputs(A=lambda x, c: 0 * x)),
    of(STEP_SIZE, "skip-subtracted", "The skip is subtracted.", with_inputs(D=lambda x, c: -x)),
    of(("mamba",), "rate-transposed", "The rates are transposed, where K = V hides it.", with_inputs(A=transposed)),
    of(
        ("mamba",),
        "values-by-zero-order-hold",
        "The values are those of a zero-order hold, (exp(dt A) - 1) / A.",
        with_step(held),
    ),
)

# -- RWKV-5 and 6 ------------------------------------------------------------------------------------------------------


def read_inclusive(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    (S,), _ = step(*state, **t)
    return (S,), t["scale"] * read(t["q"], S)


def read_after_decay(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    after, o = step(*state, **t)
    faded = (1 - np.exp(t["log_decay"]))[..., :, None] * state[0]
    return after, o - t["scale"] * read(t["q"], faded)


def bonus_stored(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    (S,), o = step(*state, **t)
    return (S + outer((t["u"] - 1) * t["k"], t["v"]),), o


RWKV = (
    of(
        BONUS,
        "bonus-of-the-first-head",
        "All heads share the bonus of the first.",
        with_inputs(u=lambda x, c: first_of(x, 0)),
    ),
    of(BONUS, "bonus-exponentiated", "The exponential of the bonus is taken.", with_inputs(u=lambda x, c: np.exp(x))),
    of(BONUS, "bonus-stored", "What is stored is weighted with the bonus.", with_step(bonus_stored)),
    of(
        BONUS,
        "bonus-on-top",
        "The token itself is read like any other, and the bonus added.",
        with_inputs(u=lambda x, c: 1 + x),
    ),
    of(
        ("log_decay per token", "read exclusive"),
        "gate-a-token-early",
        "Token t decays, after its read, by the gate of token t + 1.",
        with_inputs(log_decay=lambda x, c: shifted(x, -1)),
    ),
    of(BONUS, "read-inclusive", "A token reads the memory after its own write.", with_step(read_inclusive)),
    of(BONUS, "read-after-decay", "A token reads the memory after its decay.", with_step(read_after_decay)),
)

STEP_SIZES = MAMBA + RWKV
