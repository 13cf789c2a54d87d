"""Laws of time: what came before is in the state, and what comes later is not seen."""

from collections.abc import Iterator

import numpy as np

from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.laws.law import (
    SLACK,
    Law,
    as_it_came,
    changed_along_time,
    later,
    piece,
    returned,
    takes,
    unless_refused,
)
from linattn_spec.profiles import BITS
from linattn_spec.subject import Subject


def split(subject: Subject) -> Iterator[Comparison]:
    """Stopping anywhere and continuing from the returned state changes nothing."""
    if "initial_state" not in subject.exchange.function.parameters:
        raise Unsupported("takes no initial_state")
    if BITS[subject.exchange.profile.state] < subject.exchange.profile.bits:
        raise Unsupported("rounds the state at every hand-over")
    whole, tokens = subject.run(), subject.case.dims["T"]
    for cut in cuts(subject):
        first = subject.exchange(piece(subject, slice(0, cut)), subject.state)
        state = tuple(x for name, x in first.items() if name != "output")
        if not state:
            raise Unsupported("returns no final_state")
        second = subject.exchange(piece(subject, slice(cut, tokens)), state)
        joined = {**second, "output": np.concatenate([first["output"], second["output"]], axis=2)}
        yield Comparison(joined, whole, subject.truth.units, SLACK, f"split at {cut}: ")


def cuts(subject: Subject) -> list[int]:
    """After the first token, in the middle and before the last token, where both pieces are accepted."""
    tokens = subject.case.dims["T"]
    places = sorted({1, tokens // 2, tokens - 1})
    accepted = [cut for cut in places if takes(subject, T=cut) and takes(subject, T=tokens - cut)]
    if not accepted:
        raise Unsupported(f"accepts {subject.exchange.function.accepts}: no pieces of T={tokens}")
    return accepted


def prefix(subject: Subject) -> Iterator[Comparison]:
    """No token sees a later one, nor its own key and value where it reads earlier ones alone."""
    whole, cut = subject.run(), subject.case.dims["T"] // 2
    changed = changed_along_time(subject, lambda x: later(x, cut))
    if subject.variant.read == "strictly exclusive":
        written = changed_along_time(subject, lambda x: later(x, cut - 1))
        changed |= {item.name: written[item.name] for item in subject.variant.inputs if item.heads in ("k", "v")}
    output = subject.exchange(changed, subject.state)["output"][:, :, :cut]
    units = {"output": subject.truth.units["output"][:, :, :cut]}
    yield Comparison(
        {"output": output}, {"output": whole["output"][:, :, :cut]}, units, SLACK, f"tokens from {cut} on changed: "
    )


def empty(subject: Subject) -> Iterator[Comparison]:
    """No tokens: no outputs, and the state as it came. Refusing them is right too."""
    subject.exchange.function.check_accepts({**subject.case.dims, "T": 0})
    subject.exchange.arguments(subject.data.inputs, subject.state)  # what the case cannot express is not refused
    results = unless_refused(lambda: subject.exchange(piece(subject, slice(0, 0)), subject.state))
    if results is None:
        return
    truth = subject.truth
    states = zip((n for n in truth.values if n != "output"), subject.state or (), strict=False)
    want = {"output": truth.values["output"][:, :, :0]} | dict(states)
    units = as_it_came(subject.variant, want, truth.units)
    yield Comparison(returned(results, want), want, units, SLACK, "no tokens: ")


CAUSALITY = (
    Law("split", split, ("odd-dims", "long", "grouped-query", "grouped-value", "recipe-64"), causal=True),
    Law("prefix", prefix, ("odd-dims", "long", "recipe-64"), causal=True),
    Law("empty", empty, ("odd-dims",)),
)
