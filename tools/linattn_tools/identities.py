"""The identities of a variant over the finite field: what ``linattn prove`` evaluates."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linattn import forms
from linattn.numbers import field
from linattn.record import Variant
from linattn_spec.drawn import all_sizes

SIZES = {"T": 13, "K": 4, "V": 3, "P": 2, "J": 2, "M": 3, "L": 5, "D": 3, "N": 4, "R": 2, "W": 4}
Point = tuple[tuple, dict[str, Any]]  # state and inputs


@dataclass(frozen=True)
class Identity:
    """A statement that two ways to compute agree, to be evaluated at random points."""

    name: str
    variant: Variant
    left: Callable[[tuple, dict[str, Any]], Any]
    right: Callable[[tuple, dict[str, Any]], Any]

    def holds(self, rng: random.Random) -> bool:
        state, inputs = draw(self.variant, rng)
        return equal(self.left(state, inputs), self.right(state, inputs))


def of(variant: Variant) -> Iterator[Identity]:
    """All forms agree, and the sequence may be split anywhere."""

    recurrent = partial(forms.recurrent, variant)
    if variant.parallel is not None:
        yield Identity("recurrent = parallel", variant, recurrent, partial(forms.parallel, variant))
        for size in (1, 3, 5):
            name = f"recurrent = chunkwise, chunks of {size}"
            yield Identity(name, variant, recurrent, partial(forms.chunkwise, variant, chunk_size=size))
        yield Identity("one sequence = split at every token", variant, recurrent, partial(split_everywhere, variant))
    if variant.bidirectional is not None:
        routes = [partial(bidirectional, variant, route) for route in (0, 1)]
        yield Identity("bidirectional: two routes", variant, *routes)


def bidirectional(variant: Variant, route: int, state: tuple, inputs: dict[str, Any]) -> Any:
    return (), forms.bidirectional(variant, inputs, route)


def split_everywhere(variant: Variant, state: tuple, inputs: dict[str, Any]) -> Any:
    """Parallel up to each token and parallel from there on; all must agree, the last is returned."""
    pairs = []
    for cut in range(SIZES["T"] + 1):
        middle, first = forms.parallel(variant, state, forms.take(variant, inputs, slice(0, cut)))
        end, second = forms.parallel(variant, middle, forms.take(variant, inputs, slice(cut, None)))
        pairs.append((end, np.concatenate([first, second], axis=-2)))
    return pairs[-1] if all(equal(pairs[0], pair) for pair in pairs) else None


def draw(variant: Variant, rng: random.Random) -> Point:
    """A state and inputs with K != V; one log decay is log 0."""

    sizes = all_sizes(variant, SIZES)

    def shape(axes: str) -> tuple[int, ...]:
        return tuple(int(axis) if axis.isdigit() else sizes[axis] for axis in axes.split())

    inputs = {item.name: field.draw(shape(item.axes), item.kind, rng) for item in variant.inputs}
    if variant.has("log_decay") and variant.input("log_decay").time is not None:
        inputs["log_decay"][SIZES["T"] // 2] = field.Log(None)
    state = tuple(field.draw(shape(item.axes), item.kind, rng) for item in variant.state)
    return state, inputs


def equal(left: Any, right: Any) -> bool:
    """Both results are there, have the same shapes, and every number is the same."""
    if left is None or right is None:
        return False
    pairs = list(zip((*left[0], left[1]), (*right[0], right[1]), strict=True))
    return all(x.shape == y.shape and bool(np.all(x == y)) for x, y in pairs)
