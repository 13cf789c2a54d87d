"""A law of memory: arrays are read by their strides, not as if their values lay side by side."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from linattn_spec import frameworks
from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Exchange, Results, groups
from linattn_spec.frameworks import Typed
from linattn_spec.laws.law import SLACK, unless_refused
from linattn_spec.subject import Subject


def strides(subject: Subject) -> Iterator[Comparison]:
    """Views with other strides are read as the arrays that they show. Refusing them is right too."""
    exchange, framework = subject.exchange, subject.exchange.backend.array
    if framework not in ("numpy", "torch"):
        raise Unsupported(f"arrays of {framework} have no strides")
    arguments = exchange.arguments(subject.data.inputs, subject.state)
    heads, units = groups(subject.variant, subject.data.inputs), subject.truth.units
    for words, view in VIEWS.items():
        if words == "backwards" and framework == "torch":
            continue  # it has no negative strides
        views = with_arrays(arguments, partial(shown, view, framework))
        plain = with_arrays(views, partial(copied, framework))
        got = unless_refused(partial(called, exchange, views, heads))
        if got is not None:
            unit = {n: np.broadcast_to(x[:1], x.shape) if words == "expanded" else x for n, x in units.items()}
            yield Comparison(got, called(exchange, plain, heads), unit, SLACK, f"inputs {words}: ")


def called(exchange: Exchange, arguments: dict[str, Any], heads: int) -> Results:
    return exchange.results(exchange.function.call(**arguments), heads)


def shown(view: Callable[[Typed, str], Any], framework: str, x: Any) -> Any:
    return view(frameworks.from_array(framework, x), framework)


def copied(framework: str, x: Any) -> Any:
    typed = frameworks.from_array(framework, x)
    return stored(typed, typed.values, framework)


def stored_transposed(x: Typed, framework: str) -> Any:
    axes = (1, -1) if x.values.ndim > 2 else (0, -1)
    return stored(x, x.values.swapaxes(*axes), framework).swapaxes(*axes)


def stored_with_gaps(x: Typed, framework: str) -> Any:
    """Every second value along every axis; between them NaN."""
    shown = (slice(1, None, 2),) * x.values.ndim
    whole = np.full([2 * size + 1 for size in x.values.shape], np.nan)
    whole[shown] = x.values
    return stored(x, whole, framework)[shown]


def stored_backwards(x: Typed, framework: str) -> Any:
    return stored(x, np.flip(x.values), framework)[(slice(None, None, -1),) * x.values.ndim]


def expanded(x: Typed, framework: str) -> Any:
    """The first batch entry in place of all, with a stride of 0; a parameter has no batch."""
    if x.values.ndim < 3:
        return stored(x, x.values, framework)
    one = stored(x, x.values[:1], framework)
    return one.expand(x.values.shape) if framework == "torch" else np.broadcast_to(one, x.values.shape)


def stored(x: Typed, values: np.ndarray, framework: str) -> Any:
    """In C order."""
    return frameworks.to_array(framework, Typed(np.ascontiguousarray(values), x.dtype))


VIEWS = {
    "transposed": stored_transposed,
    "with gaps": stored_with_gaps,
    "backwards": stored_backwards,
    "expanded": expanded,
}


def with_arrays(arguments: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """The arguments with every array changed."""

    def changed(given: Any) -> Any:
        if isinstance(given, tuple):
            return tuple(changed(x) for x in given)
        return given if isinstance(given, int | float | None) else change(given)

    return {name: changed(given) for name, given in arguments.items()}
