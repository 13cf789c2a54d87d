"""Decays that turn: GateLoop, whose memory is complex."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.mistakes.angles import negated
from linattn_spec.mistakes.named_states import with_final_states, with_states
from linattn_spec.mistakes.record import Array, Mistake, with_step
from linattn_spec.mistakes.rotations import Token, Wrong


def read_of(function: Callable[[Array, Array], Array]) -> Wrong:
    """Another number is read of every complex one in the state."""

    def changed(step: Any, state: tuple, t: Token) -> Any:
        after, _ = step(*state, **t)
        return after, (t["q"][..., None, :] @ function(*after))[..., 0, :]

    return with_step(changed)


def imaginary_part_dropped(step: Any, state: tuple, t: Token) -> Any:
    (real, imag), o = step(*state, **t)
    return (real, 0 * imag), o


def turned_after_write(step: Any, state: tuple, t: Token) -> Any:
    """The new write is turned and decayed with the rest."""
    still = {"log_decay": 0 * np.maximum(t["log_decay"], -1), "angle": 0 * t["angle"]}
    written, _ = step(*state, **{**t, **still})
    return step(*written, **{**t, "k": 0 * t["k"]})


def of(identity: str, kind: str, sentence: str, wrong: Wrong) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, ("angle", "S_real", "S_imag"))


COMPLEX_DECAYS = (
    of(
        "complex-memory-real",
        "rotation",
        "The imaginary part of the memory is dropped after every token.",
        with_step(imaginary_part_dropped),
    ),
    of(
        "complex-memory-read-by-size",
        "rotation",
        "The sizes of the complex numbers are read, not their real parts.",
        read_of(np.hypot),
    ),
    of(
        "complex-memory-read-imaginary",
        "rotation",
        "The imaginary part of the memory is read.",
        read_of(lambda real, imag: imag),
    ),
    of(
        "complex-memory-read-twice",
        "scale",
        "Twice the real part is read.",
        read_of(lambda real, imag: 2 * real),
    ),
    of(
        "complex-decay-after-write",
        "order",
        "A new write is decayed and turned like what was there before.",
        with_step(turned_after_write),
    ),
    of(
        "complex-memory-exchanged-in",
        "state in",
        "Real and imaginary part of the incoming memory are exchanged.",
        with_states(S_real=lambda x, c: c.state[1], S_imag=lambda x, c: c.state[0]),
    ),
    of(
        "complex-memory-conjugated-out",
        "state out",
        "The final memory is conjugated.",
        with_final_states(S_imag=negated),
    ),
    of(
        "complex-memory-half-ignored",
        "state in",
        "The imaginary part of the incoming memory is ignored.",
        with_states(S_imag=lambda x, c: 0 * x),
    ),
)
