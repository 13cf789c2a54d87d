"""Laws of linearity: outputs are linear in the values and in what the state holds of them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from linattn import validate
from linattn.record import Variant
from linattn.variants import variant
from linattn_spec import relative, verdict
from linattn_spec.backend import Function
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Results
from linattn_spec.laws.law import SLACK, Law
from linattn_spec.profiles import Profile
from linattn_spec.subject import Subject


def doubling(subject: Subject) -> Iterator[Comparison]:
    """Twice the values, from twice the state, give twice the results."""
    results = subject.exchange(*in_values(subject, lambda x: 2 * x))
    linear = linear_results(subject.variant)
    halved = {name: x / 2 if name in linear else x for name, x in results.items()}
    yield Comparison(halved, subject.run(), subject.truth.units, SLACK, "values doubled: ")


def superposition(subject: Subject) -> Iterator[Comparison]:
    """The values of even tokens and those of odd ones, each from its part of the state, give results that add up."""
    parts = [subject.exchange(*in_values(subject, partial(every_other, first=n))) for n in (0, 1)]
    even, odd, whole = (relative.absolute(subject.variant, results) for results in (*parts, subject.run()))
    linear = linear_results(subject.variant)
    added = {name: even[name] + odd[name] if name in linear else even[name] for name in even}
    units = {n: with_rounding(x, n, [even, odd], subject.exchange.profile) for n, x in subject.truth.units.items()}
    yield Comparison(added, whole, units, SLACK, "values of even and of odd tokens added up: ")


def in_values(subject: Subject, change: Callable[[Any], Any]) -> tuple[dict[str, Any], tuple | None]:
    """Inputs and state, with all that the outputs are linear in changed."""
    linear = subject.variant.linear_in
    inputs = {name: change(x) if name in linear else x for name, x in subject.data.inputs.items()}
    state = subject.state and tuple(
        change(x) if item.name in linear else x for x, item in zip(subject.state, subject.variant.state, strict=True)
    )
    return inputs, state


def scale(subject: Subject) -> Iterator[Comparison]:
    """Twice the scale gives twice the outputs and the same state; half of it with twice the queries the same results.

    The first is no law where the scale is inside an exponential.
    """
    item, inputs = subject.variant.input("scale"), subject.data.inputs
    given = inputs.get("scale", validate.default(item, subject.case.dims))
    whole, units = subject.run(), subject.truth.units
    if item.kind == "number":
        results = subject.exchange({**inputs, "scale": 2 * given}, subject.state)
        yield Comparison({**results, "output": results["output"] / 2}, whole, units, SLACK, "scale doubled: ")
    results = subject.exchange({**inputs, "q": 2 * inputs["q"], "scale": given / 2}, subject.state)
    yield Comparison(results, whole, units, SLACK, "scale halved, queries doubled: ")


def linear_results(record: Variant) -> set[str]:
    """The output, and the state but for a normaliser or a cache of keys."""
    return {"output"} | {f"final_state/{name}" for name in record.linear_in}


def every_other(x: np.ndarray, first: int) -> np.ndarray:
    """Rows (tokens of v, keys of a state) of one parity; 0 elsewhere."""
    return np.where(np.arange(x.shape[-2])[:, None] % 2 == first, x, 0)


def with_rounding(units: np.ndarray, name: str, parts: list[Results], profile: Profile) -> np.ndarray:
    """Two parts that cancel are rounded as they are stored, which may be coarser than what is left of them."""
    relative, absolute = verdict.rounding(profile, name)
    stored = [np.maximum(relative * np.abs(part[name]), absolute) / 3**0.5 for part in parts if name in part]
    return np.sqrt(sum(x**2 for x in [units, *stored]))


def has_scale(function: Function) -> bool:
    return variant(function.variant).has("scale")


def is_linear(function: Function) -> bool:
    return bool(variant(function.variant).linear_in)


LINEARITY = (
    Law("doubling", doubling, ("odd-dims", "long", "recipe-64"), applies=is_linear),
    Law("superposition", superposition, ("odd-dims", "recipe-64"), applies=is_linear),
    Law("scale", scale, ("odd-dims", "recipe-64"), applies=has_scale),
)
