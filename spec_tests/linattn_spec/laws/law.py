"""The record of a law, and the ways in which laws change a case."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn.record import Variant
from linattn.variants import variant as find_variant
from linattn_spec.backend import Function, Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Results, WrongReturn
from linattn_spec.subject import Subject
from linattn_spec.verdict import LEAST

SLACK = 2.0  # both sides of a comparison may stray: its limits are twice those of the goldens


@dataclass(frozen=True)
class Law:
    """What relates the results of one function to each other. A law needs no oracle.

    ``scenarios`` are those on which it is tried; recipes serve functions that accept kernel sizes alone. A ``causal``
    law says nothing where every token sees every token.
    """

    name: str
    compare: Callable[[Subject], Iterator[Comparison]]
    scenarios: tuple[str, ...]
    causal: bool = False
    applies: Callable[[Function], bool] = lambda function: True
    level: str = "core"  # the first level at which it is tried (see ``plan.LEVELS``)
    bound: bool = False  # to its scenarios: other laws are tried on more at level full

    def has_meaning(self, function: Function) -> bool:
        exempt = find_variant(function.variant).exempt
        return (
            self.name not in exempt
            and self.applies(function)
            and not (self.causal and function.form == "bidirectional")
        )


def piece(subject: Subject, window: slice) -> dict[str, Any]:
    """A part of the sequence."""
    return changed_along_time(subject, lambda x: x[:, :, window])


def changed_along_time(subject: Subject, change: Callable[[Any], Any]) -> dict[str, Any]:
    """The inputs of the case with all sequences changed."""
    return along_time(subject.variant, subject.data.inputs, change)


def along_time(variant: Variant, inputs: Mapping[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """All sequences changed; numbers and parameters pass through."""
    times = {item.name: item.time for item in variant.inputs}
    return {name: x if times[name] is None else change(x) for name, x in inputs.items()}


def takes(subject: Subject, **dims: int) -> bool:
    """Whether the function accepts the case with other dimensions."""
    try:
        subject.exchange.function.check_accepts({**subject.case.dims, **dims})
    except Unsupported:
        return False
    return True


def unless_refused(call: Callable[[], Results]) -> Results | None:
    """The results; None where the function raises what it likes, for it may refuse such a call."""
    try:
        return call()
    except (Unsupported, WrongReturn):
        raise
    except Exception:
        return None


def returned(results: Mapping[str, Any], want: Mapping[str, Any]) -> dict[str, Any]:
    """Those results alone that can be compared: a function need not return a state."""
    return {name: x for name, x in results.items() if name in want}


def as_it_came(variant: Variant, want: Results, units: Results) -> Results:
    """The units of results that are what was given: exact, but for angles, and a state relative to another m."""
    free = {f"final_state/{item.name}" for item in variant.state if item.relative_to or item.kind == "angle"}
    return {name: units[name] if name in free else np.full_like(x, LEAST) for name, x in want.items()}


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
