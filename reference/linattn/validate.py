"""The one layer that checks and completes what a caller passes. Behind it, the mathematics may trust its arguments.

Every refusal is a ``ValueError`` that names the input, what was expected and what was found.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linattn.heads import Arranged
from linattn.record import Input, Variant

DEFAULTS: dict[str, Callable[[Mapping[str, int]], float]] = {
    "K ** -0.5": lambda sizes: sizes["K"] ** -0.5,
    "K ** -0.5 / 2": lambda sizes: sizes["K"] ** -0.5 / 2,
}
MAY_BE_EMPTY = ("T", "P")  # a sequence, and a past


def complete(variant: Variant, inputs: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, int]]:
    """All inputs as checked floating-point arrays, defaults filled in, and the size of every named axis."""
    check_names(variant, inputs)
    given = {name: floating(name, value) for name, value in inputs.items() if value is not None}
    dtype = np.result_type(*(array for name, array in given.items() if variant.input(name).axes))
    sizes: dict[str, int] = {}
    for item in variant.inputs:
        if item.name in given:
            check_axes(item.name, item.axes, given[item.name], sizes)
            check_domain(item, given[item.name])
    check_sizes(variant, sizes)
    for item in variant.inputs:
        if item.name not in given:
            given[item.name] = np.asarray(default(item, sizes))
    return {item.name: given[item.name].astype(dtype, copy=False) for item in variant.inputs}, sizes


def check_names(variant: Variant, inputs: Mapping[str, Any]) -> None:
    known = [item.name for item in variant.inputs]
    for name in inputs:
        if name not in known:
            raise ValueError(f"{name} is no input of {variant.name}; expected {', '.join(known)}")
    for item in variant.inputs:
        if item.default is None and inputs.get(item.name) is None:
            raise ValueError(f"{item.name} ({item.doc}) is required by {variant.name}; got none")


def floating(name: str, value: Any) -> np.ndarray:
    """A plain Python number may stand for a floating-point scalar; an array of integers is refused."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if np.ma.isMaskedArray(value):
        raise ValueError(f"{name} must be an array without a mask: what is masked would count")
    try:
        array = np.asarray(float(value) if number else value)
    except (ValueError, OverflowError) as reason:  # nested lists of unequal lengths, an integer beyond every float
        raise ValueError(f"{name} must be a floating-point array; got {reason}") from None
    if array.dtype.kind != "f":
        raise ValueError(f"{name} must be a floating-point array; got dtype {array.dtype}")
    return array


def default(item: Input, sizes: Mapping[str, int]) -> float:
    return DEFAULTS[item.default](sizes) if isinstance(item.default, str) else float(item.default or 0)


def check_axes(name: str, axes: str, array: np.ndarray, sizes: dict[str, int]) -> None:
    """The trailing axes must be those of the record, and a named axis must have one size (collected in ``sizes``)."""
    names = axes.split()
    if not names and array.ndim:
        raise ValueError(f"{name} must be one number; got shape {array.shape}")
    if array.ndim < len(names):
        raise ValueError(f"{name} must have shape (..., {', '.join(names)}); got {array.shape}")
    for axis, size in zip(names, array.shape[array.ndim - len(names) :], strict=True):
        if size == 0 and axis not in MAY_BE_EMPTY:
            raise ValueError(f"{name} must have {axis} >= 1; got shape {array.shape}")
        expected = int(axis) if axis.isdigit() else sizes.setdefault(axis, size)
        if size != expected:
            wanted = ", ".join(n if n.isdigit() or n not in sizes else f"{n}={sizes[n]}" for n in names)
            raise ValueError(f"{name} must have shape (..., {wanted}); got {array.shape}")


def check_sizes(variant: Variant, sizes: Mapping[str, int]) -> None:
    if not variant.fits(sizes):
        found = ", ".join(f"{axis}={size}" for axis, size in sizes.items() if axis in variant.sizes)
        raise ValueError(f"the axes of {variant.name} must satisfy {variant.sizes}; got {found}")


def check_domain(item: Input, array: np.ndarray) -> None:
    """NaN is refused everywhere, and infinity but for log decays, which may be -inf."""
    low, high = item.domain or (-np.inf, np.inf)
    right = np.isfinite(array) if item.domain is None else (array >= low) & (array <= high) & (array < np.inf)
    if not right.all():
        unit = " (natural log)" if item.name.startswith("log_") else ""
        raise ValueError(f"{item.name} must be {item.limits}{unit}; got {worst(array, ~right, high)}")


def worst(array: np.ndarray, wrong: np.ndarray, high: float = np.inf) -> str:
    """The worst of the wrong values and where it stands: "max 0.31 at [0, 12, 3]"."""
    finite = wrong & np.isfinite(array)
    if not finite[wrong].all():
        word, where = "", wrong & ~finite
    elif array[wrong].max() > high:
        word, where = "max ", array == array[wrong].max()
    else:
        word, where = "min ", array == array[wrong].min()
    index = [int(i) for i in np.argwhere(where)[0]]
    return f"{word}{array[tuple(index)]:.6g}" + (f" at {index}" if index else "")


def complete_state(
    variant: Variant, initial_state: Any, arranged: Arranged, sizes: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """The state as a tuple of arrays of the shape that the inputs ask for; None means the record's initial value."""
    dtype = arranged.inputs[variant.inputs[0].name].dtype
    if initial_state is None:
        shapes = (
            arranged.leading + tuple(axis_size(axis, sizes) for axis in item.axes.split()) for item in variant.state
        )
        return tuple(
            np.full(shape, item.initial, dtype=dtype) for shape, item in zip(shapes, variant.state, strict=True)
        )
    given = initial_state if isinstance(initial_state, tuple | list) else (initial_state,)
    if len(given) != len(variant.state):
        raise ValueError(f"initial_state must hold {', '.join(s.name for s in variant.state)}; got {len(given)} arrays")
    own, arrays = dict(sizes), []
    for item, value in zip(variant.state, given, strict=True):
        name = f"initial_state {item.name}"
        array = floating(name, value)
        check_axes(name, item.axes, array, own)
        wrong = ~np.isfinite(array)
        if wrong.any() and np.isfinite(item.initial):
            raise ValueError(f"{name} must be finite; got {worst(array, wrong)}")
        core = array.shape[array.ndim - len(item.axes.split()) :]
        arrays.append(fitted(name, array, core, arranged).astype(dtype))
    return tuple(arrays)


def axis_size(axis: str, sizes: Mapping[str, int]) -> int:
    return int(axis) if axis.isdigit() else sizes.get(axis, 0)  # P, the past, is empty at first


def fitted(name: str, array: np.ndarray, core: tuple[int, ...], arranged: Arranged) -> np.ndarray:
    """A state with one entry for every head, grouped like the inputs."""
    try:
        return np.broadcast_to(array, arranged.ungrouped + core).reshape(arranged.leading + core)
    except ValueError:
        wanted = ", ".join(map(str, arranged.ungrouped))
        raise ValueError(f"{name} must have the leading axes ({wanted}) (batch, heads); got {array.shape}") from None
