"""Laws of symmetry: batch entries, heads and the scale of the values."""

from collections.abc import Iterator, Mapping

import numpy as np

from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
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


def doubling(subject: Subject) -> Iterator[Comparison]:
    """Twice the values, from twice the state, give twice the results."""
    doubles = {item.name: 2 if item.axes.endswith("V") else 1 for item in subject.variant.state}
    state = subject.state and tuple(x * n for x, n in zip(subject.state, doubles.values(), strict=True))
    results = subject.exchange({**subject.data.inputs, "v": 2 * subject.data.inputs["v"]}, state)
    halved = {name: x / doubles.get(name.removeprefix("final_state/"), 2) for name, x in results.items()}
    yield Comparison(halved, subject.run(), subject.truth.units, SLACK, "values doubled: ")


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
    Law("doubling", doubling, ("odd-dims", "long", "recipe-64")),
)
