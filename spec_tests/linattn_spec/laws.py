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


def piece(subject: Subject, window: slice) -> dict[str, Any]:
    """A part of the sequence; numbers and parameters pass through."""
    times = {item.name: item.time for item in subject.variant.inputs}
    return {name: x[:, :, window] if times[name] is not None else x for name, x in subject.data.inputs.items()}


def changed_along_time(subject: Subject, change: Callable[[Any], Any]) -> dict[str, Any]:
    """The inputs with all sequences changed."""
    times = {item.name: item.time for item in subject.variant.inputs}
    return {name: x if times[name] is None else change(x) for name, x in subject.data.inputs.items()}


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
