"""Leading axes: grouped heads and broadcasting, before and after the mathematics, for any number system."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn.record import Input, Variant

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Arranged:
    """Inputs as the folds take them: what writes the state has its leading shape, grouped heads have an axis more."""

    inputs: dict[str, Any]
    leading: Shape
    groups: int  # 0 where all head counts agree

    @property
    def ungrouped(self) -> Shape:
        """The leading axes with all heads in one."""
        if not self.groups:
            return self.leading
        *before, groups, share = self.leading
        return (*before, groups * share)


def arrange(variant: Variant, inputs: Mapping[str, Any]) -> Arranged:
    """Raises ``ValueError`` where head counts or leading axes do not go together."""
    grouped, groups = group(variant, inputs)
    leading = {item.name: leading_axes(item, grouped[item.name]) for item in variant.inputs}
    writers = [item.name for item in variant.inputs if item.heads in ("k", "v")]
    try:
        shared = np.broadcast_shapes(*(leading[name] for name in writers))
        np.broadcast_shapes(shared, *leading.values())
    except ValueError:
        raise ValueError(f"leading axes (batch, heads) must broadcast; got {leading}") from None
    cores = {name: grouped[name].shape[len(leading[name]) :] for name in writers}
    return Arranged(
        {**grouped, **{name: np.broadcast_to(grouped[name], shared + core) for name, core in cores.items()}},
        shared,
        groups,
    )


def group(variant: Variant, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """Grouped heads are one more leading axis: (..., heads, *axes) becomes (..., groups, heads / groups, *axes).

    Query head h reads key/value head h // (Hq / Hkv), value head h goes with query and key head h // (Hv / Hk): heads
    are repeated, not tiled.
    """
    leading = {item.name: leading_axes(item, inputs[item.name]) for item in variant.inputs if item.heads != "none"}
    counts = {name: axes[-1] for name, axes in leading.items() if axes}
    groups = min((count for count in counts.values() if count > 1), default=1)
    if all(count in (1, groups) for count in counts.values()):
        return dict(inputs), 0
    most = max(counts.values())
    if most % groups or any(count not in (1, groups, most) for count in counts.values()):
        raise ValueError(f"heads must be one count, or two of which one divides the other; got {counts}")
    grouped = {
        name: inputs[name].reshape(split_shape(inputs[name].shape, len(leading[name]) - 1, groups)) for name in counts
    }
    return {**inputs, **grouped}, groups


def split_shape(shape: Shape, at: int, groups: int) -> Shape:
    pair = (1, 1) if shape[at] == 1 else (groups, shape[at] // groups)
    return shape[:at] + pair + shape[at + 1 :]


def merge(variant: Variant, state: tuple, output: Any, groups: int) -> tuple[tuple, Any]:
    """Undo ``group`` on what comes out."""
    axes = [item.axes for item in variant.state]
    merged = tuple(joined(x, names, groups) for x, names in zip(state, axes, strict=bool(state)))
    return merged, joined(output, variant.output, groups)


def joined(array: Any, axes: str, groups: int) -> Any:
    """(..., groups, heads / groups, *axes) to (..., heads, *axes)."""
    if not groups:
        return array
    at = array.ndim - len(axes.split()) - 2
    return array.reshape(array.shape[:at] + (array.shape[at] * array.shape[at + 1],) + array.shape[at + 2 :])


def leading_axes(item: Input, array: Any) -> Shape:
    """The sizes of the axes before those of the record."""
    return np.shape(array)[: np.ndim(array) - len(item.axes.split())]
