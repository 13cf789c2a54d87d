"""The recurrence itself wrong: order of decay, erase, write and read; causality."""

from typing import Any

import numpy as np

from linattn.algebra import outer, read
from linattn_spec.mistakes.record import (
    Array,
    Mistake,
    with_step,
)


def decay(S: Array, token: dict[str, Array]) -> Array:
    return np.exp(token["log_decay"])[..., :, None] * S if "log_decay" in token else S


def read_before_write(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, token["scale"] * read(token["q"], decay(state[0], token))


def read_before_decay(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, token["scale"] * read(token["q"], state[0])


def decay_after_write(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S,), _ = step(*state, **{**token, "log_decay": 0 * np.maximum(token["log_decay"], -1)})
    S = decay(S, token)
    return (S,), token["scale"] * read(token["q"], S)


def gate_not_exponentiated(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    gate = np.maximum(token["log_decay"], -64)
    return step(gate[..., :, None] * state[0], **{**token, "log_decay": 0 * gate})


def write_by_one_minus_decay(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    return step(*state, **{**token, "k": token["k"] * (1 - np.exp(token["log_decay"]))})


def delta(retrieved: Any, written: Any = None) -> Any:
    """A delta rule with other ``retrieved(before, decayed, token)`` or ``written(token)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        S = decay(state[0], token)
        value = token["beta"] * token["v"] if written is None else written(token)
        S = S + outer(token["k"], value - retrieved(state[0], S, token))
        return (S,), token["scale"] * read(token["q"], S)

    return with_step(changed)


def erase_alone_decayed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """What is retrieved has decayed, what is kept has not."""
    retrieved = read(token["k"], decay(state[0], token))
    S = state[0] + outer(token["k"], token["beta"] * (token["v"] - retrieved))
    return (S,), token["scale"] * read(token["q"], S)


ORDER = (
    Mistake(
        "read-before-write",
        "order",
        "A token does not see its own write.",
        with_step(read_before_write),
        ("scale", "matrix state"),
        seen_in=("https://github.com/open-lm-engine/lm-engine/pull/496",),
    ),
    Mistake(
        "read-before-decay",
        "order",
        "A token reads the state before its decay and write.",
        with_step(read_before_decay),
        ("log_decay", "matrix state"),
    ),
    Mistake(
        "decay-after-write",
        "order",
        "The decay acts on the new write too.",
        with_step(decay_after_write),
        ("log_decay", "matrix state"),
    ),
    Mistake(
        "gate-not-exponentiated",
        "gate",
        "The state is multiplied by the log decay itself.",
        with_step(gate_not_exponentiated),
        ("log_decay", "matrix state"),
    ),
    Mistake(
        "write-by-one-minus-decay",
        "order",
        "The write is weighted with 1 - decay.",
        with_step(write_by_one_minus_decay),
        ("log_decay", "matrix state", "no beta"),
    ),
)

ERASE = (
    Mistake(
        "erase-undecayed",
        "erase",
        "The erase term reads the state before its decay.",
        delta(lambda before, S, t: t["beta"] * read(t["k"], before)),
        ("erase decayed",),
    ),
    Mistake(
        "erase-missing",
        "erase",
        "Nothing is erased: values are added.",
        delta(lambda before, S, t: 0 * t["v"]),
        ("beta",),
    ),
    Mistake(
        "erase-by-query",
        "erase",
        "The query retrieves what is erased.",
        delta(lambda before, S, t: t["beta"] * read(t["q"], S)),
        ("beta",),
    ),
    Mistake(
        "erase-sign",
        "erase",
        "What is retrieved is added.",
        delta(lambda before, S, t: -t["beta"] * read(t["k"], S)),
        ("beta",),
    ),
    Mistake(
        "beta-not-on-erase",
        "erase",
        "beta weights the value alone.",
        delta(lambda before, S, t: read(t["k"], S)),
        ("beta",),
    ),
    Mistake(
        "beta-not-on-write",
        "erase",
        "beta weights the erase alone.",
        delta(lambda before, S, t: t["beta"] * read(t["k"], S), lambda t: t["v"]),
        ("beta",),
    ),
    Mistake(
        "beta-twice-on-erase",
        "erase",
        "beta weights the erase twice.",
        delta(lambda before, S, t: t["beta"] ** 2 * read(t["k"], S)),
        ("beta",),
    ),
    Mistake(
        "scale-on-erase",
        "erase",
        "The scale of the read is applied to the erase too.",
        delta(lambda before, S, t: t["scale"] * t["beta"] * read(t["k"], S)),
        ("beta",),
    ),
    Mistake(
        "decay-on-erase-alone",
        "erase",
        "The decay acts on what is retrieved, not on what is kept.",
        with_step(erase_alone_decayed),
        ("erase decayed",),
    ),
)

RECURRENCE = ORDER + ERASE
