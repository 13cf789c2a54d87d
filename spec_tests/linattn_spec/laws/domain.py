"""The contract on values: outside of their domain they may give anything, but only where they stand."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import groups
from linattn_spec.laws.law import SLACK
from linattn_spec.subject import Subject

LARGEST = {"float16": 2.0**15, "bfloat16": 2.0**127, "float32": 2.0**127, "float64": 2.0**1023}  # powers of two
OUTSIDE = (  # in words, the roles or names of inputs that get it, and the value; None: the largest of the dtype
    ("NaN", ("data", "gate", "initial_state"), np.nan),
    ("infinity", ("data", "initial_state"), np.inf),
    ("huge values", ("data", "initial_state"), None),
    ("a log_decay of 8", ("log_decay",), 8.0),
    ("a beta of -1", ("beta",), -1.0),
    ("a beta of 3", ("beta",), 3.0),
)


def attempted(subject: Subject, arguments: dict[str, Any]) -> Any:
    """What the function returns; None where it refuses the call."""
    try:
        with np.errstate(all="ignore"):
            return subject.exchange.function.call(**arguments)
    except Exception:
        return None


def domain(subject: Subject) -> Iterator[Comparison]:
    """Values outside their domain are refused, or touch no other batch entry and no other head."""
    exchange, heads = subject.exchange, groups(subject.variant, subject.data.inputs)
    places = [(0, subject.case.dims["B"], "batch entry"), (1, heads, "head")]
    if all(parts == 1 for _, parts, _ in places):
        raise Unsupported("the case has but one batch entry and one head")
    whole, units = subject.run(), subject.truth.units
    for axis, parts, where in places:
        for words, names, value in OUTSIDE if parts > 1 else ():
            replaced = spoilt(subject, axis, parts, names, value)
            returned = attempted(subject, exchange.arguments(subject.data.inputs, subject.state) | replaced)
            if returned is not None and replaced:
                results = exchange.results(returned, heads)
                got, want, unit = (
                    {n: but_last(x[n], axis, parts)[0] for n in results} for x in (results, whole, units)
                )
                yield Comparison(got, want, unit, SLACK, f"{words} in the last {where}: ")


def spoilt(subject: Subject, axis: int, parts: int, names: tuple[str, ...], value: float | None) -> dict[str, Any]:
    """Arguments with ``value`` throughout the last of ``parts`` along an axis."""
    exchange, heads = subject.exchange, groups(subject.variant, subject.data.inputs)

    def change(x: np.ndarray, dtype: str) -> np.ndarray:
        kept, last = but_last(x, axis, parts)
        return np.concatenate([kept, np.full_like(last, LARGEST[dtype] if value is None else value)], axis)

    found = {}
    for item in subject.variant.inputs:
        if item.time is None or item.name not in (subject.data.inputs.keys() & set(exchange.function.parameters)):
            continue
        if item.name in names or item.role in names:
            dtype = exchange.profile.array if item.role == "data" else exchange.profile.gate
            found[item.name] = exchange.outward(item, change(subject.data.inputs[item.name], dtype), heads)
    if "initial_state" in names and subject.state is not None:
        state = tuple(change(x, exchange.profile.state) for x in subject.state)
        found["initial_state"] = exchange.state_outward(state, heads)
    return found


def but_last(x: np.ndarray, axis: int, parts: int) -> list[np.ndarray]:
    """All but the last of ``parts`` along an axis, and the last."""
    return np.split(x, [x.shape[axis] - x.shape[axis] // parts], axis)
