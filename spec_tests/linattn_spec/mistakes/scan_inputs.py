"""What scans and networks read at every token, and when they are read themselves."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.mistakes.layout import untransposed
from linattn_spec.mistakes.moved import along, first_of, shifted
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step
from linattn_spec.mistakes.scans import SCAN
from linattn_spec.mistakes.widths import last_lost


def with_roles(role: str, change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    """The same change of all inputs per token of that role, where there are neither keys nor values."""

    def wrong(call: Call) -> Results:
        items = () if call.variant.has("v") or call.variant.has("k") else call.variant.inputs
        names = [item.name for item in items if item.time is not None and item.role == role and item.kind != "log"]
        return with_inputs(**dict.fromkeys(names, change))(call)

    return wrong


def but(token: int) -> Callable[[Array, Call], Array]:
    """All but one token."""
    return lambda x, call: np.where(np.arange(x.shape[2])[:, None] == token % x.shape[2], 0, x)


def output_before_update(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """Where the output is one tensor of the state."""
    after, output = step(*state, **token)
    before = [x for x, new in zip(state, after, strict=True) if np.array_equal(new, output)]
    if not before:
        raise ValueError("the output is no tensor of the state")
    return after, before[0]


SCAN_INPUTS = (
    Mistake(
        "inputs-a-token-late",
        "causality",
        "Token t has the input of t - 1.",
        with_roles("data", lambda x, c: shifted(x, 1)),
    ),
    Mistake(
        "inputs-a-token-early",
        "causality",
        "Token t has the input of t + 1.",
        with_roles("data", lambda x, c: shifted(x, -1)),
        seen_by=("golden", "prefix"),
    ),
    Mistake(
        "inputs-of-the-first-entry",
        "batch",
        "All batch entries have the inputs of the first.",
        with_roles("data", along(first_of, 0)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "inputs-of-the-first-head",
        "heads",
        "All heads have the inputs of the first.",
        with_roles("data", along(first_of, 1)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "inputs-taken-for-heads",
        "layout",
        "Inputs are read as (B, H, T, D) from (B, T, H, D).",
        with_roles("data", untransposed),
    ),
    Mistake(
        "last-input-channel-lost",
        "widths",
        "The last channel of the inputs is not read.",
        with_roles("data", last_lost),
    ),
    Mistake(
        "first-input-not-read",
        "ragged end",
        "The input of the first token is taken for 0.",
        with_roles("data", but(0)),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "last-input-not-read",
        "ragged end",
        "The input of the last token is taken for 0.",
        with_roles("data", but(-1)),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "input-gates-a-token-late",
        "gate",
        "Gates are those of the token before.",
        with_roles("gate", lambda x, c: shifted(x, 1)),
        SCAN,
    ),
    Mistake(
        "gates-of-the-first-value-channel",
        "gate",
        "All channels have the gates of the first one.",
        with_roles("gate", along(first_of, -1)),
        SCAN,
    ),
    Mistake(
        "output-before-update",
        "order",
        "The output is the state before the token.",
        with_step(output_before_update),
        ("h",),
    ),
)
