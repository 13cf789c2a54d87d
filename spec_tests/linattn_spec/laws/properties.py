"""Properties in bits: measured and reported, judged only where the backend claims them."""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.laws.law import Law, changed_along_time, later, other, piece
from linattn_spec.subject import Subject


def deterministic(subject: Subject) -> Iterator[Comparison]:
    """The same call gives the same bits, also after another one."""
    first, units = subject.run(), subject.truth.units
    yield Comparison(subject.run(), first, units, what="called again: ")
    subject.exchange(changed_along_time(subject, other), subject.state)
    yield Comparison(subject.run(), first, units, what="after another call: ")


def batch_invariant(subject: Subject) -> Iterator[Comparison]:
    """The bits of a batch entry depend neither on the others nor on how many there are."""
    whole, units, entries = subject.run(), subject.truth.units, subject.case.dims["B"]
    for size in (1, 3 * entries):
        subject.exchange.function.check_accepts({**subject.case.dims, "B": size})
    crowd = changed_along_time(subject, lambda x: np.concatenate([x, other(x), x]))
    state = state_of(subject, [*range(entries)] * 3)
    among = {name: x[:entries] for name, x in subject.exchange(crowd, state).items()}
    yield Comparison(among, whole, units, what=f"in a batch of {3 * entries}: ")
    for n in range(entries) if entries > 1 else ():
        own = slice(n, n + 1)
        alone = subject.exchange(changed_along_time(subject, itemgetter(own)), state_of(subject, own))
        want, unit = ({name: x[name][own] for name in alone} for x in (whole, units))
        yield Comparison(alone, want, unit, what=f"batch entry {n} alone: ")


def state_of(subject: Subject, entries: Any) -> tuple | None:
    return subject.state and tuple(x[entries] for x in subject.state)


def prefix_invariant(subject: Subject) -> Iterator[Comparison]:
    """The bits of the first tokens depend neither on later ones nor on how many there are."""
    tokens = subject.case.dims["T"]
    cut = tokens // 2
    subject.exchange.function.check_accepts({**subject.case.dims, "T": cut})
    if cut == 0:
        raise Unsupported("the case has but one token")
    want, units = (x["output"][:, :, :cut] for x in (subject.run(), subject.truth.units))
    for inputs, what in (
        (changed_along_time(subject, lambda x: later(x, cut)), f"tokens from {cut} on changed: "),
        (piece(subject, slice(0, cut)), f"the first {cut} of {tokens} tokens alone: "),
    ):
        output = subject.exchange(inputs, subject.state)["output"][:, :, :cut]
        yield Comparison({"output": output}, {"output": want}, {"output": units}, what=what)


def measured(comparisons: Sequence[Comparison]) -> tuple[bool, str]:
    """Whether all bits are the same, and in words: the comparison in which the most values differ."""
    worst = max(comparisons, key=differing)
    count = differing(worst)
    if not count:
        return True, "same bits"
    size = sum(x.size for x in worst.got.values())
    units = max(np.nan_to_num(np.abs(x), nan=np.inf).max(initial=0) for x in worst.errors.values())
    return False, f"{worst.what}differs in {count} of {size} values, by up to {units:.2g} units"


def differing(comparison: Comparison) -> int:
    """How many values have other bits; one NaN is as good as another."""
    pairs = ((x, comparison.want[name]) for name, x in comparison.got.items())
    return sum(
        int(np.sum(((x != y) | (np.signbit(x) != np.signbit(y))) & ~(np.isnan(x) & np.isnan(y)))) for x, y in pairs
    )


PROPERTIES = (
    Law("deterministic", deterministic, ("odd-dims", "long", "recipe-64")),
    Law("batch-invariant", batch_invariant, ("odd-dims", "long", "recipe-64")),
    Law("prefix-invariant", prefix_invariant, ("odd-dims", "long", "recipe-64"), causal=True),
)
