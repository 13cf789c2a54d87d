"""Reverse-mode gradients over any number system: of balls they are certified, of field numbers exact, of floats
plain.

A ``Node`` remembers the nodes from which it was computed and the derivative by each; ``gradients`` walks back from
the outputs.
"""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

import numpy as np

from linattn.numbers import lift

_serial = count()


class Node:
    """A number and how it came about. Numbers that are no nodes are constants."""

    __slots__ = ("parents", "serial", "value")
    __hash__ = object.__hash__

    def __init__(self, value: Any, *parents: tuple["Node", Any]) -> None:
        self.value, self.parents, self.serial = value, parents, next(_serial)

    def __neg__(self) -> "Node":
        return Node(-self.value, (self, -1))

    def __add__(self, other: Any) -> "Node":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Node):
            return Node(self.value + other.value, (self, 1), (other, 1))
        return Node(self.value + other, (self, 1))

    def __sub__(self, other: Any) -> "Node":
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other: Any) -> "Node":
        return -self + other

    def __mul__(self, other: Any) -> "Node":
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Node):
            return Node(self.value * other.value, (self, other.value), (other, self.value))
        return Node(self.value * other, (self, other))

    def __truediv__(self, other: Any) -> "Node":
        if isinstance(other, np.ndarray):
            return NotImplemented
        return self * other.reciprocal() if isinstance(other, Node) else self * (1 / other)

    def __rtruediv__(self, other: Any) -> "Node":
        return self.reciprocal() * other

    __radd__ = __add__
    __rmul__ = __mul__

    def reciprocal(self) -> "Node":
        y = 1 / self.value
        return Node(y, (self, -y * y))

    def exp(self) -> "Node":
        y = _function("exp", self.value)
        return Node(y, (self, y))

    def log(self) -> "Node":
        return Node(_function("log", self.value), (self, 1 / self.value))

    def sin(self) -> "Node":
        return Node(_function("sin", self.value), (self, _function("cos", self.value)))

    def cos(self) -> "Node":
        return Node(_function("cos", self.value), (self, -_function("sin", self.value)))

    def maximum(self, other: Any) -> "Node":
        """The larger one, with its derivative; of equal floats the first. Overlapping balls raise ``Undecided``."""
        other = other if isinstance(other, Node) else Node(other)
        return self if _at_least(self.value, other.value) else other


def _function(name: str, x: Any) -> Any:
    return getattr(np, name)(x) if isinstance(x, float | complex) else getattr(x, name)()


def _at_least(x: Any, y: Any) -> bool:
    """Exponents of the finite field have no order but that of their ``maximum``."""
    return x >= y if hasattr(x, "__float__") or hasattr(x, "arb") else x.maximum(y) == x


def gradients(
    compute: Callable[[dict[str, Any]], Mapping[str, Any]], arrays: Mapping[str, Any], cotangents: Mapping[str, Any]
) -> dict[str, Any]:
    """d(sum over outputs of <cotangent, output>) / d(input), for every input; ``arrays`` hold numbers of any one
    system.
    """
    leaves = lift(Node, arrays)
    outputs = compute(leaves)
    collected: dict[int, Any] = {}
    nodes: list[Node] = []
    for name, cotangent in cotangents.items():
        for node, weight in zip(np.ravel(outputs[name]), np.ravel(cotangent), strict=True):
            if isinstance(node, Node):
                nodes.append(node)
                collected[node.serial] = collected.get(node.serial, 0) + weight
    for node in sorted(_reachable(nodes), key=lambda node: -node.serial):
        for parent, derivative in node.parents:
            collected[parent.serial] = collected.get(parent.serial, 0) + collected[node.serial] * derivative
    return lift(lambda leaf: collected.get(leaf.serial, 0), leaves)


def _reachable(nodes: list[Node]) -> list[Node]:
    seen, waiting = {}, list(nodes)
    while waiting:
        node = waiting.pop()
        if node.serial not in seen:
            seen[node.serial] = node
            waiting.extend(parent for parent, _ in node.parents)
    return list(seen.values())
