"""Delta rules with other gates: an erase gate and a write gate, or keys that are erased by values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import outer, read, transpose
from linattn_spec.mistakes.erase_keys import Erased, erasing, of
from linattn_spec.mistakes.record import Array, Call, Results, with_inputs, with_step
from linattn_spec.mistakes.recurrence import decay

# -- Gated DeltaNet-2 --------------------------------------------------------------------------------------------------

GATES = ("b per channel", "w per value channel")


def write_gate_on_error(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    decayed = decay(state[0], t)
    S = decayed + outer(t["k"], t["w"] * (t["v"] - read(t["b"] * t["k"], decayed)))
    return (S,), t["scale"] * read(t["q"], S)


GDN2 = (
    of(GATES, "erase-gate-ignored", "The erase gate is taken for 1.", with_inputs(b=lambda x, c: 0 * x + 1)),
    of(GATES, "write-gate-ignored", "The write gate is taken for 1.", with_inputs(w=lambda x, c: 0 * x + 1)),
    of(
        GATES,
        "erase-gate-of-the-first-channel",
        "All key channels have the erase gate of the first.",
        with_inputs(b=lambda x, c: np.repeat(x[..., :1], x.shape[-1], axis=-1)),
    ),
    of(
        GATES,
        "write-gate-of-the-first-channel",
        "All value channels have the write gate of the first.",
        with_inputs(w=lambda x, c: np.repeat(x[..., :1], x.shape[-1], axis=-1)),
    ),
    of(
        GATES,
        "erase-gate-where-it-writes",
        "The erase gate weights the key that writes, not the key that reads.",
        erasing(lambda before, S, t: -outer(t["b"] * t["k"], read(t["k"], S))),
    ),
    of(
        GATES,
        "erase-gate-on-the-write",
        "The erase gate weights the key everywhere.",
        with_inputs(k=lambda x, c: x * c.inputs["b"], b=lambda x, c: 0 * x + 1),
    ),
    of(GATES, "write-gate-on-the-erase", "The write gate weights what is erased too.", with_step(write_gate_on_error)),
    of(
        GATES,
        "erase-undecayed-by-the-gate",
        "The gated key reads the memory before its decay.",
        erasing(lambda before, S, t: -outer(t["k"], read(t["b"] * t["k"], before))),
    ),
)

# -- Oja ---------------------------------------------------------------------------------------------------------------


def oja(erased: Erased) -> Callable[[Call], Results]:
    """Another key is erased: ``erased(before, decayed, token)``."""

    def changed(step: Any, state: tuple, t: dict[str, Array]) -> Any:
        S = state[0] * np.exp(t["log_decay"])[..., None, :]
        S = S + outer(t["beta"] * t["k"] - erased(state[0], S, t), t["v"])
        return (S,), t["scale"] * read(t["q"], S)

    return with_step(changed)


def rule_of_keys(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    S = state[0] * np.exp(t["log_decay"])[..., None, :]
    S = S + outer(t["k"], t["beta"] * (t["v"] - read(t["k"], S)))
    return (S,), t["scale"] * read(t["q"], S)


VALUES_ERASE = ("log_decay per value channel", "beta", "erase decayed")
OJA = (
    of(VALUES_ERASE, "rule-of-keys", "The key erases values, as in the delta rule.", with_step(rule_of_keys)),
    of(VALUES_ERASE, "oja-erase-missing", "No key is retrieved: keys are added.", oja(lambda before, S, t: 0 * t["k"])),
    of(
        VALUES_ERASE,
        "oja-erase-added",
        "The key that is retrieved is added.",
        oja(lambda before, S, t: -t["beta"] * read(t["v"], transpose(S))),
    ),
    of(
        VALUES_ERASE,
        "oja-erase-undecayed",
        "The value retrieves a key before the decay.",
        oja(lambda before, S, t: t["beta"] * read(t["v"], transpose(before))),
    ),
    of(
        VALUES_ERASE,
        "oja-erase-not-weighted",
        "beta weights the new key alone.",
        oja(lambda before, S, t: read(t["v"], transpose(S))),
    ),
)

ERASE_GATES = GDN2 + OJA
