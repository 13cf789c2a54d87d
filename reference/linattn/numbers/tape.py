"""Reverse-mode gradients over any number system: of balls they are certified, of field numbers exact, of floats
plain, in random arithmetic they show how far a backward pass strays.

A ``Traced`` array remembers the arrays from which it was computed and how a cotangent goes back to each: the rules
are in ``adjoints``. ``gradients`` walks back from the outputs.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from linattn.numbers import adjoints, moves
from linattn.numbers.moves import Piece

_serial = count()


class Traced(NDArrayOperatorsMixin):
    """An array and how it came about. ``parents`` are pairs of an array and the way back to it."""

    __slots__ = ("parents", "serial", "value")

    def __init__(self, value: Any, *parents: tuple["Traced", Callable[[Any], Any]]) -> None:
        self.value, self.parents, self.serial = as_array(value), parents, next(_serial)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return traced(adjoints.of_ufunc(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function in (np.shape, np.ndim, np.zeros_like):
            return function(self.value)
        rule, inputs, options = adjoints.of_function(function, arguments, options)
        return traced(rule, inputs, options)

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise TypeError("a traced array cannot become a plain one: its history would be lost")

    def __getitem__(self, index: Any) -> "Traced":
        return traced(moves.taken, (self,), {"index": index})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def decays_by_differences(self) -> bool:
        return getattr(self.value, "decays_by_differences", False)

    def reshape(self, *shape: Any) -> "Traced":
        return traced(moves.reshaped, (self,), {"shape": shape})

    def sum(self, **options: Any) -> "Traced":
        return np.add.reduce(self, **options)


def traced(rule: Callable[..., Any], inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Compute and remember. ``rule(*values, **options)`` gives the result, and for each input the way back to it."""
    value, backs = rule(*(x.value if isinstance(x, Traced) else x for x in inputs), **options)
    if backs is None:  # a comparison: its derivative is 0
        return value
    return Traced(value, *((x, back) for x, back in zip(inputs, backs, strict=True) if isinstance(x, Traced)))


def gradients(
    compute: Callable[[dict[str, Any]], Mapping[str, Any]], arrays: Mapping[str, Any], cotangents: Mapping[str, Any]
) -> dict[str, Any]:
    """d(sum over outputs of <cotangent, output>) / d(input), for every input; ``arrays`` hold numbers of any one
    system. Raises ``ValueError`` where a cotangent has not the shape of its output.
    """
    leaves = {name: Traced(x) for name, x in arrays.items()}
    outputs = compute(dict(leaves))
    whole: dict[int, Any] = {}  # cotangents by serial number, and below those of pieces, collected in place
    pieces: dict[int, Any] = {}
    for name, cotangent in cotangents.items():
        if np.shape(outputs[name]) != np.shape(cotangent):
            raise ValueError(f"cotangent {name} must have shape {np.shape(outputs[name])}; got {np.shape(cotangent)}")
        if isinstance(outputs[name], Traced):
            add(whole, pieces, outputs[name], as_array(cotangent))
    ends = [outputs[name] for name in cotangents if isinstance(outputs[name], Traced)]
    for node in sorted(reachable(ends), key=lambda node: -node.serial):
        cotangent = total(whole, pieces, node)
        for parent, back in node.parents:
            add(whole, pieces, parent, back(cotangent))
        if node.parents:
            whole.pop(node.serial, None), pieces.pop(node.serial, None)
    return {name: total(whole, pieces, leaf) for name, leaf in leaves.items()}


def add(whole: dict[int, Any], pieces: dict[int, Any], node: Traced, cotangent: Any) -> None:
    if isinstance(cotangent, Piece):
        if node.serial not in pieces:
            pieces[node.serial] = np.zeros_like(node.value)
        pieces[node.serial][cotangent.index] += cotangent.value
    else:
        whole[node.serial] = whole[node.serial] + cotangent if node.serial in whole else cotangent


def total(whole: dict[int, Any], pieces: dict[int, Any], node: Traced) -> Any:
    """The cotangent of a node; of one that nothing depends on, 0."""
    found = [part[node.serial] for part in (whole, pieces) if node.serial in part]
    return sum(found[1:], start=found[0]) if found else np.zeros_like(node.value)


def as_array(x: Any) -> Any:
    """An operation on arrays without axes gives a bare number."""
    plain = isinstance(x, np.ndarray | np.generic | complex | float)
    return np.asanyarray(x) if plain else np.asarray(x, dtype=object)


def reachable(nodes: list[Traced]) -> list[Traced]:
    seen, waiting = {}, list(nodes)
    while waiting:
        node = waiting.pop()
        if node.serial not in seen:
            seen[node.serial] = node
            waiting.extend(parent for parent, _ in node.parents)
    return list(seen.values())
