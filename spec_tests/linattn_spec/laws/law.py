"""The record of a law, and the ways in which laws change a case."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn_spec.backend import Function
from linattn_spec.comparison import Comparison
from linattn_spec.subject import Subject

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

    def has_meaning(self, function: Function) -> bool:
        return self.applies(function) and not (self.causal and function.form == "bidirectional")


def piece(subject: Subject, window: slice) -> dict[str, Any]:
    """A part of the sequence; numbers and parameters pass through."""
    times = {item.name: item.time for item in subject.variant.inputs}
    return {name: x[:, :, window] if times[name] is not None else x for name, x in subject.data.inputs.items()}


def changed_along_time(subject: Subject, change: Callable[[Any], Any]) -> dict[str, Any]:
    """The inputs with all sequences changed."""
    times = {item.name: item.time for item in subject.variant.inputs}
    return {name: x if times[name] is None else change(x) for name, x in subject.data.inputs.items()}


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
