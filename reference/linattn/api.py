"""What users call: ``prefill`` for a sequence, ``decode`` for one token. Both check everything first."""

from collections.abc import Mapping
from itertools import pairwise
from operator import index
from typing import Any

import numpy as np

from linattn import forms, heads, validate
from linattn.record import Variant
from linattn.variants import variant as find

LAYOUTS = ("BHTD", "BTHD")


def prefill(
    variant: str | Variant,
    *,
    initial_state: Any = None,
    form: str | None = None,
    chunk_size: int = 64,
    layout: str = "BHTD",
    cu_seqlens: Any = None,
    **inputs: Any,
) -> tuple[np.ndarray, Any]:
    """Run a sequence: ``(output, final_state)``.

    ``inputs`` go by the names of the variant's record (``linattn explain NAME``): arrays ``(..., T, D)`` with axes
    as declared there, or ``(..., T, H, D)`` with ``layout="BTHD"``; leading axes broadcast; log_decay is a natural
    logarithm; absent inputs take their defaults. ``initial_state`` is a ``final_state`` of an earlier call (a tuple
    of arrays), None the initial value of the record. Head counts may differ (grouped heads: repeated, not tiled).
    ``cu_seqlens`` = [0, t1, ..., T] says that sequences are packed along T: each starts from its own state, and
    ``initial_state`` and ``final_state`` are then lists with one state per sequence.

    Raises ``ValueError`` that names the input, the expected and the found.
    """
    record = find(variant) if isinstance(variant, str) else variant
    if not isinstance(chunk_size, int | np.integer) or chunk_size < 1:
        raise ValueError(f"chunk_size must be an integer of at least 1; got {chunk_size}")
    form = form or record.usual_form
    if form not in record.forms:
        raise ValueError(f"form must be one of {', '.join(record.forms)} for {record.name}; got {form!r}")
    if form == "bidirectional" and initial_state is not None:
        raise ValueError("initial_state must be None in the bidirectional form: it has no state")
    arrays, sizes = validate.complete(record, relayout(record, inputs, layout))
    state: Any
    if cu_seqlens is not None:
        output, state = packed(record, arrays, sizes, initial_state, form, chunk_size, cu_seqlens)
    else:
        output, state = whole(record, arrays, sizes, initial_state, form, chunk_size)
    return (np.swapaxes(output, -2, -3) if layout == "BTHD" else output), state


def decode(
    variant: str | Variant, *, initial_state: Any = None, **inputs: Any
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Run one token: ``(output, final_state)`` from inputs without their axis T, ``(..., D)``."""
    record = find(variant) if isinstance(variant, str) else variant
    sequence = {name: one_token(record, name, value) for name, value in inputs.items()}
    output, state = prefill(record, initial_state=initial_state, form="recurrent", **sequence)
    return output[..., 0, :], state


def one_token(variant: Variant, name: str, value: Any) -> Any:
    """``(..., D)`` to ``(..., T, D)``."""
    time = time_of(variant, name, value)
    if time is None:
        return value
    array = validate.floating(name, value)
    axes = [axis for axis in variant.input(name).axes.split() if axis != "T"]
    if array.ndim < len(axes):
        raise ValueError(f"{name} must have shape (..., {', '.join(axes)}); got {array.shape}")
    return np.expand_dims(array, time)


def relayout(variant: Variant, inputs: Mapping[str, Any], layout: str) -> dict[str, Any]:
    """``(..., T, H, D)`` to ``(..., H, T, D)``."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}; got {layout!r}")

    def turn(name: str, value: Any) -> Any:
        if layout == "BHTD" or time_of(variant, name, value) is None:
            return value
        array = validate.floating(name, value)
        if array.ndim < 3:
            raise ValueError(f"{name} must have shape (..., T, H, D) in layout BTHD; got {array.shape}")
        return np.swapaxes(array, -2, -3)

    return {name: turn(name, value) for name, value in inputs.items()}


def time_of(variant: Variant, name: str, value: Any) -> int | None:
    """The axis T of an input that is given; None where there is none."""
    return variant.input(name).time if value is not None and variant.has(name) else None


def whole(
    variant: Variant,
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    initial_state: Any,
    form: str,
    chunk_size: int,
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """One sequence from its state."""
    arranged = heads.arrange(variant, arrays)
    state = validate.complete_state(variant, initial_state, arranged, sizes)
    state, output = forms.run(variant, form, state, arranged.inputs, chunk_size)
    state, output = heads.merge(variant, state, output, arranged.groups)
    return output, tuple(x.copy() for x in state)  # the last token, or a row of the output, may be a part of it


def packed(
    variant: Variant,
    arrays: Mapping[str, Any],
    sizes: Mapping[str, int],
    initial_states: Any,
    form: str,
    chunk_size: int,
    cu_seqlens: Any,
) -> tuple[np.ndarray, list[tuple[np.ndarray, ...]]]:
    """Several sequences one after the other along T, each from its own state: no token sees another sequence."""
    borders = check_borders(cu_seqlens, sizes["T"])
    count = len(borders) - 1
    own = [None] * count if initial_states is None else initial_states
    if not isinstance(own, list | tuple) or len(own) != count:
        found = len(own) if isinstance(own, list | tuple) else type(own).__name__
        raise ValueError(f"initial_state must be a list of {count} states, one per sequence; got {found}")
    outputs, states = [], []
    for state, (start, stop) in zip(own, pairwise(borders), strict=True):
        piece = forms.take(variant, arrays, slice(start, stop))
        output, state = whole(variant, piece, {**sizes, "T": stop - start}, state, form, chunk_size)
        outputs.append(output)
        states.append(state)
    return np.concatenate(outputs, axis=-2), states


def check_borders(cu_seqlens: Any, tokens: int) -> list[int]:
    try:
        borders = [index(border) for border in cu_seqlens]
    except TypeError:  # not a sequence, or not of integers
        borders = []
    rising = len(borders) > 1 and all(start <= stop for start, stop in pairwise(borders))
    if not rising or borders[0] != 0 or borders[-1] != tokens:
        raise ValueError(f"cu_seqlens must be integers rising from 0 to T={tokens}; got {cu_seqlens}")
    return borders
