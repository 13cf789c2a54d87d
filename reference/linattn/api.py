"""What users call: ``prefill`` for a sequence, ``decode`` for one token. Both check everything first."""

from collections.abc import Mapping
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
    form: str = "chunkwise",
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
    if chunk_size < 1:
        raise ValueError(f"chunk_size must be at least 1; got {chunk_size}")
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
    times = {item.name: item.time for item in record.inputs if item.time is not None}
    sequence: dict[str, Any] = {
        name: np.expand_dims(value, times[name]) if name in times and value is not None else value
        for name, value in inputs.items()
    }
    output, state = prefill(record, initial_state=initial_state, form="recurrent", **sequence)
    return output[..., 0, :], state


def relayout(variant: Variant, inputs: Mapping[str, Any], layout: str) -> dict[str, Any]:
    """``(..., T, H, D)`` to ``(..., H, T, D)``."""
    if layout not in LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(LAYOUTS)}; got {layout!r}")

    def turn(name: str, value: Any) -> Any:
        if layout == "BHTD" or value is None or not variant.has(name) or variant.input(name).time is None:
            return value
        if np.ndim(value) < 3:
            raise ValueError(f"{name} must have shape (..., T, H, D) in layout BTHD; got {np.shape(value)}")
        return np.swapaxes(value, -2, -3)

    return {name: turn(name, value) for name, value in inputs.items()}


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
    return output, state


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
    own = [None] * (len(borders) - 1) if initial_states is None else list(initial_states)
    if len(own) != len(borders) - 1:
        raise ValueError(f"initial_state must be a list of {len(borders) - 1} states, one per sequence; got {len(own)}")
    outputs, states = [], []
    for state, start, stop in zip(own, borders[:-1], borders[1:], strict=True):
        piece = forms.take(variant, arrays, slice(start, stop))
        output, state = whole(variant, piece, {**sizes, "T": stop - start}, state, form, chunk_size)
        outputs.append(output)
        states.append(state)
    return np.concatenate(outputs, axis=-2), states


def check_borders(cu_seqlens: Any, tokens: int) -> list[int]:
    borders = np.asarray(cu_seqlens)
    rising = borders.ndim == 1 and len(borders) > 1 and borders.dtype.kind in "iu" and (np.diff(borders) >= 0).all()
    if not rising or borders[0] != 0 or borders[-1] != tokens:
        raise ValueError(f"cu_seqlens must be integers rising from 0 to T={tokens}; got {borders.tolist()}")
    return [int(border) for border in borders]
