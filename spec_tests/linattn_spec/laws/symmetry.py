"""Laws of symmetry: batch entries, heads and channels."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linattn.record import Variant
from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.drawn import tensors
from linattn_spec.exchange import groups
from linattn_spec.laws.law import SLACK, Law, changed_along_time, other, reordered
from linattn_spec.subject import Subject


def batch(subject: Subject) -> Iterator[Comparison]:
    """No batch entry sees another one."""
    yield independent(subject, 0, subject.case.dims["B"], "the other batch entries changed: ")


def heads(subject: Subject) -> Iterator[Comparison]:
    """No group of heads sees another one."""
    yield independent(subject, 1, groups(subject.variant, subject.data.inputs), "the other heads changed: ")


def reversal(subject: Subject) -> Iterator[Comparison]:
    """Batch entries and heads in another order give the same results in that order."""
    state = subject.state and tuple(x[::-1, ::-1] for x in subject.state)
    inputs = {item.name: reordered(item.time, subject.data.inputs.get(item.name)) for item in subject.variant.inputs}
    results = subject.exchange({name: x for name, x in inputs.items() if x is not None}, state)
    back = {name: x[::-1, ::-1] for name, x in results.items()}
    yield Comparison(back, subject.run(), subject.truth.units, SLACK, "batch and heads reversed: ")


def channels(subject: Subject) -> Iterator[Comparison]:
    """Key channels in another order reorder nothing but the rows of the state; value channels order the outputs.

    So do the entries of a state and slots; channels that turn in pairs stay where they are.
    """
    axes = {item.name: item.axes for item in subject.variant.inputs}
    states = {f"final_state/{item.name}": item.axes for item in subject.variant.state}
    whole = subject.run()
    for axis in alike(subject.variant):
        inputs = {name: reversed_along(axis, axes[name], x) for name, x in subject.data.inputs.items()}
        state = subject.state and tuple(
            reversed_along(axis, names, x) for x, names in zip(subject.state, states.values(), strict=True)
        )
        results = subject.exchange(inputs, state)
        back = {n: reversed_along(axis, states.get(n, subject.variant.output), x) for n, x in results.items()}
        yield Comparison(back, whole, subject.truth.units, SLACK, f"channels {axis} reversed: ")


def alike(record: Variant) -> list[str]:
    """Axes whose entries have no order."""
    axes = {axis for item in tensors(record) for axis in item.axes.split()}
    return [axis for axis in "KVDNM" if axis in axes and not (axis == "K" and "R" in axes)]


def reversed_along(axis: str, axes: str, x: Any) -> Any:
    """The trailing ``axes`` of ``x`` go by their names."""
    names = axes.split()
    return np.flip(x, tuple(place - len(names) for place, name in enumerate(names) if name == axis))


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


SYMMETRY = (
    Law("batch", batch, ("odd-dims", "grouped-query")),
    Law("heads", heads, ("odd-dims", "grouped-query", "grouped-value", "recipe-64")),
    Law("reversal", reversal, ("odd-dims", "grouped-query", "recipe-64")),
    Law("channels", channels, ("odd-dims", "recipe-64")),
)
