"""Laws of memory: what a call does to arrays that are not its own."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from linattn.record import Variant
from linattn_spec import frameworks
from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Results, WrongReturn, groups
from linattn_spec.laws.law import SLACK, Law, changed_along_time, other
from linattn_spec.laws.poison import poison
from linattn_spec.laws.strides import strides
from linattn_spec.subject import Subject


def untouched(subject: Subject) -> Iterator[Comparison]:
    """A call leaves its arguments as they were, and a second call gives the same results."""
    arguments = subject.exchange.arguments(subject.data.inputs, subject.state)
    arrays = arrays_of(arguments)
    before = [values(subject, x) for _, x in arrays]
    subject.exchange.function.call(**arguments)
    refuse_changes(subject, arrays, before, "the call changed its argument")
    first = subject.run()
    yield Comparison(subject.run(), first, subject.truth.units, SLACK, "called again: ")


def ownership(subject: Subject) -> Iterator[Comparison]:
    """Results belong to the caller: to write into one changes nothing else, and no later call changes them."""
    exchange, units = subject.exchange, subject.truth.units
    arguments = exchange.arguments(subject.data.inputs, subject.state)
    returned = exchange.function.call(**arguments)
    first, results = snapshot(subject, returned), results_of(returned)
    for n, (name, x) in enumerate(results):
        others = results[n + 1 :] + results[:n] + arrays_of(arguments)
        before = [values(subject, y) for _, y in others]
        overwrite(x)
        refuse_changes(subject, others, before, f"writing into the returned {name} changed")
    kept = exchange.function.call(**exchange.arguments(subject.data.inputs, subject.state))
    second = snapshot(subject, kept)
    yield Comparison(second, first, units, SLACK, "called again, with the first results overwritten: ")
    exchange(changed_along_time(subject, other), subject.state)
    yield Comparison(snapshot(subject, kept), second, units, SLACK, "kept over a later call: ")


def aliasing(subject: Subject) -> Iterator[Comparison]:
    """One array passed for several inputs gives what equal arrays give."""
    exchange, data = subject.exchange, subject.data.inputs
    one = one_that_bounds(subject.variant)
    given = [name for name in ("q", "k", "v") if name != one and {name, one} <= data.keys()]
    same = [name for name in given if data[name].shape == data[one].shape]
    if not same:
        raise Unsupported("no two inputs of the case have one shape")
    equal = {**data, **dict.fromkeys(same, data[one])}
    arguments = exchange.arguments(equal, subject.state)
    heads = groups(subject.variant, equal)
    want = exchange.results(exchange.function.call(**arguments), heads)
    arguments = exchange.arguments(equal, subject.state)
    got = exchange.function.call(**arguments | dict.fromkeys(same, arguments[one]))
    yield Comparison(
        exchange.results(got, heads), want, subject.truth.units, SLACK, f"{one} passed for {' and '.join(same)} too: "
    )


def one_that_bounds(record: Variant) -> str:
    """Keys, or where they are its own the values: what is of unit length lets no delta rule grow."""
    return "v" if record.has("v") and record.input("v").typical == "unit" else "k"


def arrays_of(arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    """The arrays among the arguments of a call, by name."""
    parts = [(name, x) for name, given in arguments.items() for x in (given if isinstance(given, tuple) else (given,))]
    return [(name, x) for name, x in parts if not isinstance(x, int | float | None)]


def results_of(returned: Any) -> list[tuple[str, Any]]:
    """The arrays that a call returned, by name."""
    output, state = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
    tensors = state if isinstance(state, tuple | list) else () if state is None else (state,)
    return [("output", output), *(("final_state", x) for x in tensors)]


def snapshot(subject: Subject, returned: Any) -> Results:
    """What a call returned, as it is now."""
    results = subject.exchange.results(returned, groups(subject.variant, subject.data.inputs))
    return {name: x.copy() for name, x in results.items()}


def values(subject: Subject, x: Any) -> np.ndarray:
    return frameworks.from_array(subject.exchange.backend.array, x).values.copy()


def refuse_changes(subject: Subject, arrays: list[tuple[str, Any]], before: list[np.ndarray], what: str) -> None:
    for (name, x), then in zip(arrays, before, strict=True):
        if not np.array_equal(values(subject, x), then, equal_nan=True):
            raise WrongReturn(f"{what} {name}")


def overwrite(x: Any) -> None:
    """Write into an array, where it can be written to."""
    try:
        x[...] = 7
    except (TypeError, ValueError, RuntimeError):
        return


MEMORY = (
    Law("untouched", untouched, ("odd-dims", "recipe-64")),
    Law("ownership", ownership, ("odd-dims", "recipe-64")),
    Law("aliasing", aliasing, ("odd-dims", "square", "recipe-64")),
    Law("strides", strides, ("odd-dims", "recipe-64")),
    Law("poison", poison, ("odd-dims", "recipe-64")),
)
