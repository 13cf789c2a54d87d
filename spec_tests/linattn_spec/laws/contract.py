"""The contract: what has no meaning is refused.

To refuse is to raise an exception. Only what nobody could mean is wrong: an axis of size 1 may be broadcast, and any
ratio of heads that is a whole number may be supported.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.record import Input
from linattn_spec import frameworks
from linattn_spec.backend import Function, Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import WrongReturn, groups
from linattn_spec.laws.domain import attempted, domain
from linattn_spec.laws.law import SLACK, Law, piece, takes
from linattn_spec.profiles import BITS
from linattn_spec.subject import Subject

TOKEN_LESS, ENTRY_MORE = "a token less", "a batch entry more"


def shapes(subject: Subject) -> Iterator[Comparison]:
    """Inputs whose shapes do not fit together are refused; at most, what one has too much of is ignored."""
    exchange, inputs = subject.exchange, subject.data.inputs
    given = [
        item for item in subject.variant.inputs if item.name in inputs and item.name in exchange.function.parameters
    ]
    alone = subject.state is None and sum(item.time is not None for item in given) == 1
    wrong = {
        f"{item.name} with {words}": {item.name: exchange.outward(item, x, 1)}
        for item in given
        for words, x in unfitting(item, inputs[item.name])
        if item.name != "q" and not (alone and words in (TOKEN_LESS, ENTRY_MORE))  # which nothing contradicts
    }
    return refused(subject, wrong)


def unfitting(item: Input, x: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Wrong versions of one input. From two on, one more is no multiple, and one less is nothing to broadcast."""
    if item.time is not None:
        yield TOKEN_LESS, x[:, :, :-1]
        if x.shape[0] > 1:
            yield ENTRY_MORE, one_more(x, 0)
    heads = 0 if item.time is None else 1
    if item.axes and x.shape[heads] > 1:
        yield "a head more", one_more(x, heads)
    if item.axes.endswith("K"):
        yield "a channel less", x[..., :-1]


def one_more(x: np.ndarray, axis: int) -> np.ndarray:
    return np.concatenate([x, np.take(x, [0], axis)], axis)


def states(subject: Subject) -> Iterator[Comparison]:
    """A state of another shape is refused; at most, batch entries that it has too many of are ignored."""
    if subject.state is None:
        raise Unsupported("the case starts from no state")
    exchange, first = subject.exchange, subject.state[0]
    wrong = {}
    if subject.variant.state[0].axes == "K V" and first.shape[-1] != first.shape[-2]:
        wrong["a state transposed"] = (first.swapaxes(-1, -2), *subject.state[1:])
    for axis, words in enumerate((ENTRY_MORE, "a head more")):
        if first.shape[axis] > 1:
            wrong[f"a state with {words}"] = tuple(one_more(x, axis) for x in subject.state)
    given = {words: {"initial_state": exchange.state_outward(x, 1)} for words, x in wrong.items()}
    if len(subject.state) > 1:
        given["a state without its last tensor"] = {"initial_state": exchange.state_outward(subject.state, 1)[:-1]}
    return refused(subject, given)


def refused(subject: Subject, wrong: dict[str, dict[str, Any]]) -> Iterator[Comparison]:
    """Calls with some arguments replaced: each must raise. What is accepted is named, with what came back."""
    if not wrong:
        raise Unsupported("the case has but one of everything")
    arguments = subject.exchange.arguments(subject.data.inputs, subject.state)
    accepted, right = [], []
    for words, replaced in wrong.items():
        returned = attempted(subject, arguments | replaced)
        comparison = None if returned is None else of_what_is_common(subject, words, returned)
        if comparison is not None:
            right.append(comparison)
        elif returned is not None:
            accepted.append(f"{words}, and returned {described(returned)}")
    if accepted:
        raise WrongReturn(f"accepted {'; '.join(accepted)}")
    return iter(right)


def of_what_is_common(subject: Subject, words: str, returned: Any) -> Comparison | None:
    """The comparison with the results of what all arrays have, where those are what came back."""
    tokens, units = subject.case.dims["T"], subject.truth.units
    if words.endswith(TOKEN_LESS) and takes(subject, T=tokens - 1):
        want = subject.exchange(piece(subject, slice(0, tokens - 1)), subject.state)
        units = {**units, "output": units["output"][:, :, : tokens - 1]}
    elif words.endswith(ENTRY_MORE):
        want = subject.run()
    else:
        return None
    try:
        results = subject.exchange.results(returned, groups(subject.variant, subject.data.inputs))
        comparison = Comparison(results, want, units, SLACK, f"{words}: ")
        return comparison if comparison.load <= 1 else None
    except WrongReturn:
        return None


def described(returned: Any) -> str:
    output = output_of(returned)
    return f"an output of shape {tuple(output.shape)}" if hasattr(output, "shape") else type(output).__name__


def output_of(returned: Any) -> Any:
    return returned[0] if isinstance(returned, tuple) else returned


def integers(subject: Subject) -> Iterator[Comparison]:
    """Integers are refused, or taken for the numbers that they are; an output of integers says itself what it is."""
    exchange, framework = subject.exchange, subject.exchange.backend.array
    heads, units = groups(subject.variant, subject.data.inputs), subject.truth.units
    slack = (
        4 * SLACK * 2.0 ** max(0, exchange.profile.bits - BITS["float32"])
    )  # beside integers, single precision will do
    for name in (name for name in ("q", "v") if name in subject.data.inputs):
        inputs = {**subject.data.inputs, name: np.round(4 * subject.data.inputs[name])}
        arguments = exchange.arguments(inputs, subject.state)
        want = exchange.results(exchange.function.call(**arguments), heads)
        given = frameworks.from_array(framework, arguments[name])
        whole = frameworks.to_array(framework, replace(given, dtype="int8"))  # every float absorbs it in NumPy
        returned = attempted(subject, arguments | {name: whole})
        if returned is not None and "int" not in str(getattr(output_of(returned), "dtype", "")):
            got = exchange.results(returned, heads)
            yield Comparison(got, want, units, slack, f"{name} of integers: ")


def starts_from_state(function: Function) -> bool:
    return "initial_state" in function.parameters


CONTRACT = (
    Law("shapes", shapes, ("odd-dims", "recipe-64")),
    Law("states", states, ("odd-dims", "recipe-64"), applies=starts_from_state),
    Law("integers", integers, ("odd-dims", "recipe-64")),
    Law("domain", domain, ("odd-dims", "recipe-64")),
)
