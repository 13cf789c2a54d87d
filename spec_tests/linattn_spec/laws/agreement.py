"""Laws between functions of one backend: of one variant, and of two variants of which one contains the other."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from linattn import flat, forms, validate
from linattn.lattice import EDGES, Edge
from linattn.variants import variant
from linattn_spec.backend import Function, Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Exchange, Results
from linattn_spec.laws.law import SLACK, Law, returned
from linattn_spec.subject import Subject, truth_of
from linattn_spec.ways import strongest_gate

LARGER = 8  # a problem that much larger than the own one says little of kernels in use


def agreement(subject: Subject) -> Iterator[Comparison]:
    """A function gives what the first other one of its variant gives that takes the case and sees as many tokens."""
    mine = subject.exchange.function
    for theirs in others(subject, mine.variant, (subject.state, subject.data.inputs), subject.case.dims):
        other = theirs.function
        if other.column != mine.column and (other.form == "bidirectional") == (mine.form == "bidirectional"):
            units = truth_of(subject.case.id, theirs.profile, other.form).units
            larger = {name: np.maximum(x, units[name]) for name, x in subject.truth.units.items()}
            want = theirs(subject.data.inputs, subject.state)
            yield Comparison(returned(subject.run(), want), want, larger, SLACK, f"against {other.column}: ")
            return
    raise Unsupported(f"no other function of {mine.variant} takes the case")


def reduction(subject: Subject) -> Iterator[Comparison]:
    """A variant that contains this one gives its results, in the same form, when it is restricted to it."""
    inputs, _ = validate.complete(subject.variant, subject.data.inputs)
    found = [(edge, theirs) for edge in EDGES for theirs in containing(subject, edge, inputs)]
    whole, judged = subject.run() if found else {}, False
    for edge, theirs in found:
        got = restricted(subject, edge, theirs, inputs, whole)
        if is_promised(subject, edge, inputs) or all(np.isfinite(x).all() for x in got.values()):
            judged = True
            yield Comparison(got, whole, subject.truth.units, SLACK, f"{edge.general}, {edge.restriction}: ")
    if not judged:
        raise Unsupported(f"no variant that contains {subject.variant.name} takes the case in this form")


def restricted(subject: Subject, edge: Edge, theirs: Exchange, inputs: dict[str, Any], whole: Results) -> Results:
    """What the function at the general end gives, by the names of the special one."""
    names = [f"final_state/{item.name}" for item in subject.variant.state]
    states, output = edge.through(lambda *point: run(theirs, *floats(*point)), start(subject), inputs)
    return returned({"output": output, **dict(zip(names, states, strict=False))}, whole)


def is_promised(subject: Subject, edge: Edge, inputs: dict[str, Any]) -> bool:
    """Not where a restriction has stronger gates, as of a momentum that is forgotten at once: nan is no fault there."""
    _, mapped = floats(*edge.into(start(subject), inputs))
    return strongest_gate(variant(edge.general), mapped) >= subject.exchange.backend.log_decay_range


def containing(subject: Subject, edge: Edge, inputs: dict[str, Any]) -> list[Exchange]:
    """The function of the same form at the general end, if this is the special one; the same column before others."""
    if edge.special != subject.variant.name:
        return []
    mine, (state, mapped) = subject.exchange.function, floats(*edge.into(start(subject), inputs))
    if not has_plain_heads(edge.general, mapped) or size(mapped) > LARGER * size(inputs):
        return []
    fresh = subject.state is None and all(not x.any() for x in state)  # then a function that takes no state will do
    point = (None if fresh or mine.form == "bidirectional" else state, mapped)
    dims = {**subject.case.dims, **forms.dims(variant(edge.general), mapped)}
    same = [x for x in others(subject, edge.general, point, dims) if x.function.form == mine.form]
    return sorted(same, key=lambda x: x.function.column != mine.column)[:1]


def size(inputs: dict[str, Any]) -> int:
    return sum(np.size(x) for x in inputs.values())


def has_plain_heads(name: str, inputs: dict[str, Any]) -> bool:
    """Whether there are batches and heads alone: an edge may add an axis, which no function takes."""
    sequences = [item for item in variant(name).inputs if item.time is not None]
    return all(np.ndim(inputs[item.name]) == 2 + len(item.axes.split()) for item in sequences)


def floats(state: tuple, inputs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """An edge serves all number systems, and so maps to whole numbers where it can."""
    return tuple(np.asarray(x, float) for x in state), {name: np.asarray(x, float) for name, x in inputs.items()}


def start(subject: Subject) -> tuple:
    """The state, or the initial one; where every token sees every token it is mapped, and not used."""
    numbers = flat.complete(subject.variant, subject.data.inputs, subject.data.initial_state)
    return tuple(numbers[f"initial_state/{item.name}"] for item in subject.variant.state)


def run(exchange: Exchange, state: tuple, inputs: dict[str, Any]) -> tuple[tuple, Any]:
    """The final state and the outputs, as the lattice has them."""
    results = exchange(inputs, state if "initial_state" in exchange.function.parameters else None)
    return tuple(x for name, x in results.items() if name != "output"), results["output"]


def others(subject: Subject, name: str, point: tuple[tuple | None, Any], dims: dict[str, int]) -> Iterator[Exchange]:
    """The functions of a variant that promise the profile and take these arrays."""
    backend, promised = subject.exchange.backend, subject.exchange.profile.name
    for function in backend.functions:
        profile = next((p for p in function.profiles if p.name == promised), None)
        if function.variant != name or profile is None:
            continue
        exchange = Exchange(backend, function, profile)
        try:
            function.check_accepts(dims)
            exchange.arguments(point[1], point[0])
        except Unsupported:
            continue
        yield exchange


def is_special(function: Function) -> bool:
    return any(edge.special == function.variant for edge in EDGES)


AGREEMENT = (
    Law("agreement", agreement, ("odd-dims", "long", "recipe-64")),
    Law("reduction", reduction, ("odd-dims", "recipe-64"), applies=is_special),
)
