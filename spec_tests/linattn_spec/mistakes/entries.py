"""Batch entries mixed up, and states that the entry or head before has left behind."""

from collections.abc import Callable

import numpy as np

from linattn_spec.mistakes.moved import along, first_of, next_of
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    right,
    with_final_state,
    with_inputs,
    with_output,
    with_state,
)


def left_by_the_one_before(axis: int) -> Callable[[Call], Results]:
    """The buffer of the state is not cleared: what the entry or head before has left is added."""

    def wrong(call: Call) -> Results:
        final = [x for name, x in right(call).items() if name != "output"]
        return with_state(lambda x, c: x + shifted_from(final, call.state, x, axis))(call)

    return wrong


def shifted_from(final: list[Array], state: tuple, x: Array, axis: int) -> Array:
    left = final[next(n for n, own in enumerate(state) if own is x)]
    moved = np.roll(left, 1, axis=axis)
    return np.where(
        np.arange(moved.shape[axis]).reshape([-1 if n == axis else 1 for n in range(moved.ndim)]) > 0, moved, 0
    )


BATCH = (
    Mistake(
        "queries-of-the-first-entry",
        "batch",
        "All batch entries have the queries of the first.",
        with_inputs(q=along(first_of, 0)),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "keys-of-the-first-entry",
        "batch",
        "All batch entries have the keys of the first.",
        with_inputs(k=along(first_of, 0)),
    ),
    Mistake(
        "values-of-the-first-entry",
        "batch",
        "All batch entries have the values of the first.",
        with_inputs(v=along(first_of, 0)),
    ),
    Mistake(
        "outputs-of-the-next-entry",
        "batch",
        "The outputs of the batch entries are rotated by one.",
        with_output(along(next_of, 0)),
    ),
    Mistake(
        "outputs-of-the-first-entry-alone",
        "batch",
        "Only the outputs of the first batch entry are written.",
        with_output(lambda x, c: np.concatenate([x[:1], 0 * x[1:]])),
    ),
    Mistake(
        "final-state-of-the-next-entry",
        "batch",
        "The final states of the batch entries are rotated by one.",
        with_final_state(along(next_of, 0)),
    ),
    Mistake(
        "state-left-by-the-entry-before",
        "state in",
        "A batch entry starts from its own state plus what the entry before has left.",
        left_by_the_one_before(0),
        ("fixed state",),
        seen_by=("golden", "reversal"),
    ),
    Mistake(
        "state-left-by-the-head-before",
        "state in",
        "A head starts from its own state plus what the head before has left.",
        left_by_the_one_before(1),
        ("fixed state",),
    ),
)
