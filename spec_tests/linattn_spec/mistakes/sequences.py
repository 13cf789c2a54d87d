"""Packed sequences (``cu_seqlens``) that see each other, or of which one is lost."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from linattn_spec.mistakes.calls import joined, parted
from linattn_spec.mistakes.record import CAUSAL, Array, Mistake, right

Given = dict[str, Any]


def own_state(n: int, states: tuple, before: tuple | None) -> tuple:
    return tuple(x[n : n + 1] for x in states)


def packed(
    borders: Callable[[Array], Array] = lambda cu_seqlens: cu_seqlens,
    start: Callable[[int, tuple, tuple | None], tuple] = own_state,
    final: Callable[[list[tuple]], list[tuple]] = lambda states: states,
) -> Callable[..., Any]:
    """A function of single sequences serves packed ones: from these borders, states, and to these final states."""

    def around(call: Callable[..., Any], given: Given) -> Any:
        given = dict(given)
        cu_seqlens, state = given.pop("cu_seqlens"), given.pop("initial_state")
        if cu_seqlens is None:
            return call(**given, initial_state=state)
        states = state if isinstance(state, tuple) else (state,)
        outputs: list[Array] = []
        finals: list[tuple] = []
        for n, (begin, end) in enumerate(pairwise(borders(np.asarray(cu_seqlens)))):
            part = {
                n: x[:, :, begin:end] if np.ndim(x) > 2 and x.shape[2] == cu_seqlens[-1] else x
                for n, x in given.items()
            }
            own = None if state is None else start(n, states, finals[-1] if finals else None)
            output, after = parted(call(**part, initial_state=own))
            outputs.append(output)
            finals.append(after)
        states = tuple(np.concatenate(x) for x in zip(*final(finals), strict=True))
        return joined(np.concatenate(outputs, axis=2), states)

    return around


def runs_on(n: int, states: tuple, before: tuple | None) -> tuple:
    return own_state(n, states, None) if before is None else before


def a_token_late(cu_seqlens: Array) -> Array:
    inner = np.minimum(cu_seqlens[1:-1] + 1, cu_seqlens[-1])
    return np.concatenate([cu_seqlens[:1], inner, cu_seqlens[-1:]])


def all_of_the_last(states: list[tuple]) -> list[tuple]:
    return [states[-1]] * len(states)


def mistake_of_packing(
    identity: str,
    sentence: str,
    around: Callable[..., Any],
    needs: tuple[str, ...] = ("matrix state",),
    forms: tuple[str, ...] = CAUSAL,
    seen_in: tuple[str, ...] = (),
) -> Mistake:
    return Mistake(
        identity,
        "packed sequences",
        sentence,
        right,
        needs,
        forms,
        seen_in=seen_in,
        seen_by=("packing",),
        around=around,
    )


SEQUENCES = (
    mistake_of_packing(
        "packed-state-runs-on",
        "A packed sequence starts from where the one before has stopped.",
        packed(start=runs_on),
        seen_in=("https://github.com/PrimeIntellect-ai/prime-rl/pull/3001",),
    ),
    mistake_of_packing(
        "packed-border-a-token-late",
        "The border between packed sequences is a token late.",
        packed(borders=a_token_late),
    ),
    mistake_of_packing(
        "packed-border-late-without-a-state",
        "The border between packed sequences that are not causal is a token late.",
        packed(borders=a_token_late),
        (),
        ("bidirectional",),
    ),
    mistake_of_packing(
        "packed-sequences-see-each-other",
        "Every token sees every token of all packed sequences.",
        packed(borders=lambda cu_seqlens: cu_seqlens[[0, -1]]),
        (),
        ("bidirectional",),
    ),
    mistake_of_packing(
        "packed-state-of-the-first-sequence",
        "All packed sequences start from the state of the first one.",
        packed(start=lambda n, states, before: own_state(0, states, None)),
    ),
    mistake_of_packing(
        "packed-initial-states-ignored",
        "The states of packed sequences are ignored.",
        packed(start=lambda n, states, before: tuple(0 * x for x in own_state(n, states, None))),
    ),
    mistake_of_packing(
        "packed-final-state-of-the-last-sequence",
        "All packed sequences return the state of the last one.",
        packed(final=all_of_the_last),
    ),
)
