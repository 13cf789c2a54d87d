"""Laws of time: what came before is in the state, and what comes later is not seen."""

from collections.abc import Iterator

import numpy as np

from linattn.variants import variant
from linattn_spec.backend import Function, Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import WrongReturn
from linattn_spec.laws.law import SLACK, Law, changed_along_time, later, piece
from linattn_spec.profiles import BITS
from linattn_spec.subject import Subject
from linattn_spec.verdict import LEAST


def split(subject: Subject) -> Iterator[Comparison]:
    """Stopping anywhere and continuing from the returned state changes nothing."""
    if "initial_state" not in subject.exchange.function.parameters:
        raise Unsupported("takes no initial_state")
    if BITS[subject.exchange.profile.state] < subject.exchange.profile.bits:
        raise Unsupported("rounds the state at every hand-over")
    whole, tokens = subject.run(), subject.case.dims["T"]
    for cut in sorted({1, tokens // 2, tokens - 1}):
        first = subject.exchange(piece(subject, slice(0, cut)), subject.state)
        state = tuple(x for name, x in first.items() if name != "output")
        if not state:
            raise Unsupported("returns no final_state")
        second = subject.exchange(piece(subject, slice(cut, None)), state)
        joined = {**second, "output": np.concatenate([first["output"], second["output"]], axis=2)}
        yield Comparison(joined, whole, subject.truth.units, SLACK, f"split at {cut}: ")


def prefix(subject: Subject) -> Iterator[Comparison]:
    """No token sees a later one."""
    whole, cut = subject.run(), subject.case.dims["T"] // 2
    changed = changed_along_time(subject, lambda x: later(x, cut))
    output = subject.exchange(changed, subject.state)["output"][:, :, :cut]
    units = {"output": subject.truth.units["output"][:, :, :cut]}
    yield Comparison(
        {"output": output}, {"output": whole["output"][:, :, :cut]}, units, SLACK, f"tokens from {cut} on changed: "
    )


def neutral(subject: Subject) -> Iterator[Comparison]:
    """A token that writes nothing and lets nothing decay changes nothing for the others."""
    cut = subject.case.dims["T"] // 2
    subject.exchange.function.check_accepts({**subject.case.dims, "T": subject.case.dims["T"] + 1})
    idle = {item.name: 0 for item in subject.variant.inputs if item.name in ("k", "v", "log_decay", "beta")}

    def inserted(name: str, x: np.ndarray) -> np.ndarray:
        token = x[:, :, cut : cut + 1]
        return np.concatenate([x[:, :, :cut], np.full_like(token, idle.get(name, token)), x[:, :, cut:]], axis=2)

    times = {item.name: item.time for item in subject.variant.inputs}
    inputs = {n: x if times[n] is None else inserted(n, x) for n, x in subject.data.inputs.items()}
    results = subject.exchange(inputs, subject.state)
    results["output"] = np.delete(results["output"], cut, axis=2)
    yield Comparison(results, subject.run(), subject.truth.units, SLACK, f"a neutral token inserted at {cut}: ")


def empty(subject: Subject) -> Iterator[Comparison]:
    """No tokens: no outputs, and the state as it came. Refusing them is right too."""
    subject.exchange.function.check_accepts({**subject.case.dims, "T": 0})
    subject.exchange.arguments(subject.data.inputs, subject.state)  # what the case cannot express is not refused
    try:
        results = subject.exchange(piece(subject, slice(0, 0)), subject.state)
    except (Unsupported, WrongReturn):
        raise
    except Exception:
        return  # refused
    truth = subject.truth
    states = zip((n for n in truth.values if n != "output"), subject.state or (), strict=False)
    want = {"output": truth.values["output"][:, :, :0]} | dict(states)
    got = {name: x for name, x in results.items() if name in want}
    units = {name: np.full_like(x, LEAST) for name, x in want.items()}
    yield Comparison(got, want, units, SLACK, "no tokens: ")


def has_neutral_token(function: Function) -> bool:
    """No token is neutral where a cache counts every one, or where the decay is the same for all."""
    record = variant(function.variant)
    grows = any("P" in item.axes.split() for item in record.state)
    constant = any(item.name == "log_decay" and item.time is None for item in record.inputs)
    return not (grows or constant)


CAUSALITY = (
    Law("split", split, ("odd-dims", "long", "grouped-query", "grouped-value", "recipe-64"), causal=True),
    Law("prefix", prefix, ("odd-dims", "long", "recipe-64"), causal=True),
    Law("neutral", neutral, ("odd-dims", "long", "recipe-64"), causal=True, applies=has_neutral_token),
    Law("empty", empty, ("odd-dims",)),
)
