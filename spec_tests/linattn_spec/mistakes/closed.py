"""The closed form of a chunk, in parts that can be exchanged one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn import algebra, forms
from linattn.algebra import products, transpose, unit_lower_solve
from linattn_spec.mistakes.record import Array, Call, Results, with_chunks


def multiplied(gate: Array, earlier: Array) -> Any:
    """The decays between tokens, since the start and until the end of a chunk: single decays are multiplied."""
    return algebra.decays(gate)


def kept(x: Array) -> Array:
    return x


def without(between: Array) -> Array:
    """The mask alone."""
    return np.tri(between.shape[-3], dtype=between.dtype)[..., None]


@dataclass(frozen=True)
class ClosedForm:
    """Chunks of a memory of outer products, with or without an erase term; a call is one of an implementation."""

    decays: Callable[[Array, Array], Any] = multiplied  # of the gates of a chunk, given the sum of all earlier ones
    erase: Callable[[Array], Array] = kept  # the decays between tokens in the triangular system
    read: Callable[[Array], Array] = kept  # and in Q K^T
    diagonal: int = -1  # the first one of the triangular system
    system: Callable[[Array, Array], Array] = lambda scores, beta: beta * scores
    solve: Callable[[Array, Array], Array] = unit_lower_solve
    retrieved: Callable[[Array, Array, Array], Array] = lambda k, since_start, S: (since_start * k) @ S
    scales: Callable[[float], tuple[float, float]] = lambda scale: (scale, scale)  # of what came before, of the chunk
    operand: Callable[[Array], Array] = kept

    def __call__(self, call: Call) -> Results:
        return with_chunks(self.fold)(call)

    def fold(self, call: Call, windows: list[slice]) -> Any:
        S, outputs, gates = call.state[0], [], gates_of(call)
        for window in windows:
            S, o = self.chunk(call, window, S, gates)
            outputs.append(o)
        return (S,), outputs

    def chunk(self, call: Call, window: slice, S: Array, gates: Array) -> tuple[Array, Array]:
        """The state after a chunk and its outputs."""
        x = forms.take(call.variant, call.inputs, window)
        earlier = np.sum(gates[:, :, : window.start], axis=2, keepdims=True)
        between, since_start, until_end = self.decays(gates[:, :, window], earlier)
        u = self.writes(x, S, between, since_start)
        scores = products(x["q"], x["k"], self.read(between))
        before, inside = self.scales(x["scale"])
        o = before * self.product(since_start * x["q"], S) + inside * self.product(scores, u)
        return since_start[..., -1, :, None] * S + self.product(transpose(until_end * x["k"]), u), o

    def writes(self, x: dict[str, Array], S: Array, between: Array, since_start: Array) -> Array:
        """The values; of a delta rule, what is left of them after all erasing."""
        if "beta" not in x:
            return x["v"]
        scores = np.tril(products(x["k"], x["k"], self.erase(between)), self.diagonal)
        erased = self.retrieved(x["k"], since_start, self.operand(S))
        return self.solve(self.system(scores, x["beta"]), x["beta"] * (x["v"] - erased))

    def product(self, x: Array, y: Array) -> Array:
        return self.operand(x) @ self.operand(y)


def gates_of(call: Call) -> Array:
    """The log decays of all tokens, (B, H, T, K or 1); 0 where a variant has none."""
    k = call.inputs["k"]
    gate = call.inputs.get("log_decay", np.zeros((k.shape[1], 1), dtype=k.dtype))
    return gate if gate.ndim == 4 else np.broadcast_to(gate[None, :, None, :], (*k.shape[:3], gate.shape[-1]))
