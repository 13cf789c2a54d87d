"""Laws: what relates the results of one function to each other. A law needs no oracle.

Both sides of a comparison may stray, so its limits are twice those of the goldens.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from linattn_spec import frameworks
from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import WrongReturn, groups
from linattn_spec.profiles import BITS
from linattn_spec.subject import Subject
from linattn_spec.verdict import LEAST

SLACK = 2.0


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


def batch(subject: Subject) -> Iterator[Comparison]:
    """No batch entry sees another one."""
    yield independent(subject, 0, subject.case.dims["B"], "the other batch entries changed: ")


def heads(subject: Subject) -> Iterator[Comparison]:
    """No group of heads sees another one."""
    yield independent(subject, 1, groups(subject.variant, subject.data.inputs), "the other heads changed: ")


def untouched(subject: Subject) -> Iterator[Comparison]:
    """A call leaves its arguments as they were, and a second call gives the same results."""
    exchange, framework = subject.exchange, subject.exchange.backend.array
    arguments = exchange.arguments(subject.data.inputs, subject.state)
    parts = [(name, x) for name, given in arguments.items() for x in (given if isinstance(given, tuple) else (given,))]
    arrays = [(name, x) for name, x in parts if not isinstance(x, float | None)]
    before = [frameworks.from_array(framework, x).values.copy() for _, x in arrays]
    exchange.function.call(**arguments)
    for (name, x), values in zip(arrays, before, strict=True):
        if not np.array_equal(frameworks.from_array(framework, x).values, values):
            raise WrongReturn(f"the call changed its argument {name}")
    first = subject.run()
    yield Comparison(subject.run(), first, subject.truth.units, SLACK, "called again: ")


def reversal(subject: Subject) -> Iterator[Comparison]:
    """Batch entries and heads in another order give the same results in that order."""
    state = subject.state and tuple(x[::-1, ::-1] for x in subject.state)
    inputs = {item.name: reordered(item.time, subject.data.inputs.get(item.name)) for item in subject.variant.inputs}
    results = subject.exchange({name: x for name, x in inputs.items() if x is not None}, state)
    back = {name: x[::-1, ::-1] for name, x in results.items()}
    yield Comparison(back, subject.run(), subject.truth.units, SLACK, "batch and heads reversed: ")


def doubling(subject: Subject) -> Iterator[Comparison]:
    """Twice the values, from twice the state, give twice the results."""
    doubles = {item.name: 2 if item.axes.endswith("V") else 1 for item in subject.variant.state}
    state = subject.state and tuple(x * n for x, n in zip(subject.state, doubles.values(), strict=True))
    results = subject.exchange({**subject.data.inputs, "v": 2 * subject.data.inputs["v"]}, state)
    halved = {name: x / doubles.get(name.removeprefix("final_state/"), 2) for name, x in results.items()}
    yield Comparison(halved, subject.run(), subject.truth.units, SLACK, "values doubled: ")


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


def piece(subject: Subject, window: slice) -> dict[str, Any]:
    """A part of the sequence; numbers and parameters pass through."""
    times = {item.name: item.time for item in subject.variant.inputs}
    return {name: x[:, :, window] if times[name] is not None else x for name, x in subject.data.inputs.items()}


def changed_along_time(subject: Subject, change: Callable[[Any], Any]) -> dict[str, Any]:
    """The inputs with all sequences changed."""
    times = {item.name: item.time for item in subject.variant.inputs}
    return {name: x if times[name] is None else change(x) for name, x in subject.data.inputs.items()}


def reordered(time: int | None, x: Any) -> Any:
    """Batch and heads reversed; a parameter has heads alone, a number neither."""
    if not np.ndim(x):
        return x
    return x[::-1] if time is None else x[::-1, ::-1]


def other(x: np.ndarray) -> np.ndarray:
    """Other values of the same kind: time and channels reversed."""
    return x[:, :, ::-1, ::-1]


def later(x: np.ndarray, cut: int) -> np.ndarray:
    return np.concatenate([x[:, :, :cut], other(x[:, :, cut:])], axis=2)


def independent(subject: Subject, axis: int, parts: int, what: str) -> Comparison:
    """The first of ``parts`` along an axis keeps its values, all others change; its results must not."""
    if parts == 1:
        raise Unsupported("the case has but one")

    def change(x: np.ndarray) -> np.ndarray:
        own = x.shape[axis] // parts
        first, rest = np.split(x, [own], axis=axis)
        return np.concatenate([first, other(rest)], axis=axis)

    state = subject.state and tuple(x if x.ndim < 4 else change(x) for x in subject.state)
    results = subject.exchange(changed_along_time(subject, change), state)
    whole = subject.run()

    def mine(results: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: np.split(x, [x.shape[axis] // parts], axis=axis)[0] for name, x in results.items()}

    return Comparison(mine(results), mine(whole), mine({n: subject.truth.units[n] for n in whole}), SLACK, what)
