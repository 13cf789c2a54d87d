"""The exchange with a backend: from the reference layout to its conventions and dtypes, and back.

Reference: float64, (B, H, T, D), states (B, H, K, V). Casts are checked: an input that a dtype does not hold makes
the case unsupported in that profile; a returned array of another shape or dtype than promised is a failure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn import validate
from linattn.record import Input, Variant
from linattn.variants import variant as find_variant
from linattn_spec import frameworks
from linattn_spec.backend import Backend, Function, Unsupported
from linattn_spec.profiles import Profile

Results = dict[str, np.ndarray]  # "output" and "final_state/NAME", float64 in the reference layout


class WrongReturn(Exception):
    """What a function returned has not the promised form: a failure."""


@dataclass(frozen=True)
class Exchange:
    """One function of a backend under one profile."""

    backend: Backend
    function: Function
    profile: Profile

    @property
    def variant(self) -> Variant:
        return find_variant(self.function.variant)

    def __call__(self, inputs: Mapping[str, Any], state: tuple | None, **controls: Any) -> Results:
        """Call the function on arrays in the reference layout; ``controls`` as for ``arguments``."""
        arguments = self.arguments(inputs, state, **controls)
        return self.results(self.function.call(**arguments), groups(self.variant, inputs))

    def arguments(
        self,
        inputs: Mapping[str, Any],
        state: tuple | None,
        chunk_size: int | None = None,
        cu_seqlens: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """The keyword arguments of the call. Raises ``Unsupported`` where the function cannot express the case."""
        complete, sizes = validate.complete(self.variant, inputs)
        heads = groups(self.variant, inputs)
        given = {}
        for item in self.variant.inputs:
            if item.name in self.function.parameters:
                given[item.name] = self.outward(item, complete[item.name], heads)
            elif not np.all(complete[item.name] == value_if_absent(item, sizes)):
                raise Unsupported(f"takes no {item.name}, which the case sets")
        if "initial_state" in self.function.parameters:
            given["initial_state"] = None if state is None else self.state_outward(state, heads)
        elif state is not None:
            raise Unsupported("takes no initial_state, which the case sets")
        return given | self.controls(chunk_size, cu_seqlens)

    def controls(self, chunk_size: int | None, cu_seqlens: Sequence[int] | None) -> dict[str, Any]:
        """What a law asks for beside the inputs; cu_seqlens, like initial_state, is passed as None too."""
        given: dict[str, Any] = {} if chunk_size is None else {"chunk_size": chunk_size}
        if cu_seqlens is not None or "cu_seqlens" in self.function.parameters:
            dtype = "int64" if self.backend.array in ("numpy", "torch") else "int32"
            borders = None if cu_seqlens is None else frameworks.typed(cu_seqlens, dtype)
            given["cu_seqlens"] = borders and frameworks.to_array(self.backend.array, borders)
        for name in given:
            if name not in self.function.parameters:
                raise Unsupported(f"takes no {name}")
        return given

    def outward(self, item: Input, value: Any, heads: int) -> Any:
        """One input as the implementation wants it."""
        if not item.axes:
            return float(value)
        linear = self.function.conventions.gate == "linear" and item.name == "log_decay"
        value = np.exp(value) if linear else value
        if item.time is None:  # a parameter per head
            value = self.reordered(value[None], heads)[0]
        else:
            value = self.reordered(value, heads)
            value = np.swapaxes(value, 1, 2) if self.function.conventions.layout == "BTHD" else value
        value = value[..., 0] if item.axes.split()[-1] == "1" else value
        return self.cast(item.name, value, self.profile.array if item.role == "data" else self.profile.gate, linear)

    def state_outward(self, state: tuple, heads: int) -> Any:
        tensors = tuple(
            self.cast(
                f"initial_state {item.name}", self.turned(self.reordered(x, heads), item.axes), self.profile.state
            )
            for item, x in zip(self.variant.state, state, strict=True)
        )
        return tensors if len(tensors) > 1 else tensors[0]

    def cast(self, name: str, value: Any, dtype: str, may_round: bool = False) -> Any:
        typed = frameworks.typed(value, dtype)
        if not may_round and not np.array_equal(typed.values, value, equal_nan=True):
            raise Unsupported(f"{name} of this case is not exact in {dtype}")
        return frameworks.to_array(self.backend.array, typed)

    def turned(self, x: Any, axes: str) -> Any:
        """A matrix state between keys as rows and values as rows; its own inverse."""
        return np.swapaxes(x, -1, -2) if self.function.conventions.state == "VK" and axes.endswith("K V") else x

    def reordered(self, x: Any, heads: int, back: bool = False) -> Any:
        """For implementations that tile: heads reordered so that ``h % heads`` finds what ``h // ratio`` found."""
        if self.function.conventions.heads == "repeat":
            return x
        share = x.shape[1] // heads
        split = (share, heads) if back else (heads, share)
        return x.reshape(x.shape[0], *split, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)

    def results(self, returned: Any, heads: int) -> Results:
        """What came back: float64 in the reference layout, dtypes checked."""
        pair = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
        output = self.received("output", pair[0], self.profile.array)
        if self.function.conventions.layout == "BTHD":
            output = np.swapaxes(output, 1, 2)
        results = {"output": self.reordered(output, heads, back=True)}
        if pair[1] is None:
            return results
        tensors = pair[1] if isinstance(pair[1], tuple | list) else (pair[1],)
        if len(tensors) != len(self.variant.state):
            names = ", ".join(item.name for item in self.variant.state)
            raise WrongReturn(f"final_state must hold {names}; got {len(tensors)} arrays")
        for item, x in zip(self.variant.state, tensors, strict=True):
            x = self.received(f"final_state {item.name}", x, self.profile.state)
            results[f"final_state/{item.name}"] = self.reordered(self.turned(x, item.axes), heads, back=True)
        return results

    def received(self, name: str, x: Any, dtype: str, axes: int = 3) -> np.ndarray:
        typed = frameworks.from_array(self.backend.array, x)
        if typed.dtype != dtype:
            raise WrongReturn(f"{name} must have dtype {dtype}; got {typed.dtype}")
        if typed.values.ndim < axes:
            raise WrongReturn(f"{name} must have batch and head axes; got shape {typed.values.shape}")
        return typed.values


def value_if_absent(item: Input, sizes: Mapping[str, int]) -> float:
    """What an implementation that does not know an input computes with: its neutral value, else its default."""
    if item.neutral is not None:
        return item.neutral
    return validate.default(item, sizes) if item.default is not None else np.nan


def grows(variant: Variant) -> bool:
    """Whether the state is a cache, which is longer after every token."""
    return any("P" in item.axes.split() for item in variant.state)


def groups(variant: Variant, inputs: Mapping[str, Any]) -> int:
    """The smallest head count of a case."""
    return min(np.shape(inputs[item.name])[1] for item in variant.inputs if item.time is not None)
