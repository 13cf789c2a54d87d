"""Random arguments of the variants, and all the ways to compute one."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from linattn import VARIANTS, Variant, forms, variant
from linattn.numbers import field
from linattn.record import Input, State

# P tokens are in the cache already; batches and heads are 2 to 4.
SIZES = {"T": 7, "K": 5, "V": 6, "P": 8, "J": 2, "M": 3, "L": 4, "D": 5, "N": 3, "R": 2, "W": 4}
Arguments = tuple[tuple, dict[str, Any]]  # the state and the inputs


FOUNDATION = tuple(
    variant(name)
    for name in (
        "softmax_attention",
        "linear_attention",
        "normalised_linear_attention",
        "retention",
        "simple_gla",
        "gla",
        "delta_rule",
        "gated_delta_rule",
        "kda",
    )
)  # what takes long is tried on these: one or two of every kind


def each(variants: Iterable[Variant]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("variant", list(variants), ids=lambda variant: variant.name)


def having(name: str) -> pytest.MarkDecorator:
    """Each variant with that input."""
    return each(variant for variant in VARIANTS if variant.has(name))


EACH_VARIANT = each(VARIANTS)
WITH_CLOSED_FORM = each(variant for variant in VARIANTS if variant.parallel)
WITH_BIDIRECTIONAL = each(variant for variant in VARIANTS if variant.bidirectional)
EACH_FORM = pytest.mark.parametrize(
    ("variant", "form"), [(v, form) for v in VARIANTS for form in v.forms], ids=lambda x: getattr(x, "name", x)
)


def is_decay(item: Input | State) -> bool:
    return isinstance(item, Input) and item.domain == (-np.inf, 0)


def resets(variant: Variant) -> bool:
    """Whether a decay of 0 forgets everything before: it is the only one, comes first, and nothing outlives it: no
    cache, no phase, no flags of the levels that are taken.
    """
    decays = [item for item in variant.inputs if item.kind == "log" and is_decay(item)]
    outlives = any(item.kind == "angle" or item.axes == "L" or "P" in item.axes.split() for item in variant.state)
    per_token = [item.name for item in decays if item.time is not None]
    return per_token == ["log_decay"] and not outlives and variant.read == "inclusive" and variant.erase != "undecayed"


def over_field(variant: Variant, seed: Any = 0, leading: tuple[int, ...] = (), **sizes: int) -> Arguments:
    """Random field elements and exponents; of the decays but the first one in four is the logarithm of zero."""
    rng = random.Random(f"{variant.name} {seed}")
    forget = np.frompyfunc(lambda decay, n: field.Log(None) if n and not rng.randrange(4) else decay, 2, 1)

    def draw(item: Input | State, shape: tuple[int, ...]) -> Any:
        values = field.draw(shape, item.kind, rng)
        return forget(values, np.arange(values.size).reshape(shape)) if is_decay(item) else values

    return draw_all(variant, draw, leading, sizes)


def over_floats(variant: Variant, seed: int = 0, leading: tuple[int, ...] = (), **sizes: int) -> Arguments:
    """Random floats of the typical kind and inside every domain; one decay in five is -inf, one 0."""
    rng = np.random.default_rng(seed)

    def draw(item: Input | State, shape: tuple[int, ...]) -> np.ndarray:
        values = rng.normal(size=shape)
        if is_decay(item):
            fifth = np.arange(values.size).reshape(shape) % 5
            return np.select([fifth == 1, fifth == 3], [-np.inf, 0.0], -np.abs(values))
        if item.axes == "K K":
            return values @ np.swapaxes(values, -1, -2)
        if item.typical in ("one", "zero"):  # nothing between
            return (values > 0).astype(float)
        if item.typical in ("strength", "angle") or item.name in ("scale", "eps"):
            return rng.uniform(size=shape)
        if item.typical.endswith("unit"):
            return values / np.linalg.norm(values, axis=-1, keepdims=True)
        return inside(item, np.abs(values) if item.typical == "positive" else values)

    return draw_all(variant, draw, leading, sizes)


def inside(item: Input | State, values: np.ndarray) -> np.ndarray:
    """Folded into the domain."""
    low, high = getattr(item, "domain", None) or (-np.inf, np.inf)
    folded = np.abs(values) if low >= 0 else -np.abs(values) if high <= 0 else values
    return np.clip(folded, low, high)


def draw_all(variant: Variant, draw: Callable[..., Any], leading: tuple[int, ...], sizes: dict[str, int]) -> Arguments:
    """State and inputs, each drawn with its axes; numbers have no leading axes."""

    def drawn(item: Input | State) -> Any:
        known = SIZES | sizes
        shape = tuple(int(axis) if axis.isdigit() else known[axis] for axis in item.axes.split())
        return draw(item, (leading if item.axes else ()) + shape)

    return tuple(drawn(item) for item in variant.state), {item.name: drawn(item) for item in variant.inputs}


def split(variant: Variant, state: tuple, inputs: dict[str, Any], cut: int, chunk_size: int = 2) -> tuple[tuple, Any]:
    """The first ``cut`` tokens one by one, the rest by chunks where it can, from the state that was handed over."""
    state, first = forms.recurrent(variant, state, forms.take(variant, inputs, slice(0, cut)))
    rest = forms.take(variant, inputs, slice(cut, None))
    state, second = forms.run(variant, variant.usual_form, state, rest, chunk_size)
    return state, np.concatenate([first, second], axis=-2)


ROUTES: dict[str, Callable[..., tuple[tuple, Any]]] = {
    "chunks of 1": lambda *arguments: forms.chunkwise(*arguments, chunk_size=1),
    "chunks of 3": lambda *arguments: forms.chunkwise(*arguments, chunk_size=3),
    "chunks of 5, short tail": lambda *arguments: forms.chunkwise(*arguments, chunk_size=5),
    "a chunk longer than T": lambda *arguments: forms.chunkwise(*arguments, chunk_size=64),
    "parallel": forms.parallel,
    **{f"split at {cut}": lambda *arguments, cut=cut: split(*arguments, cut) for cut in range(SIZES["T"] + 1)},
}  # every way to compute a sequence but the recurrent one


def routes(variant: Variant) -> dict[str, Callable[..., tuple[tuple, Any]]]:
    """Those that the variant has."""
    return {name: route for name, route in ROUTES.items() if variant.parallel or name.startswith("split")}


EACH_ROUTE = pytest.mark.parametrize(
    ("variant", "route"),
    [(v, route) for v in VARIANTS for route in routes(v).values()],
    ids=[f"{v.name}-{name}" for v in VARIANTS for name in routes(v)],
)


def equal(x: tuple[tuple, Any], y: tuple[tuple, Any]) -> bool:
    """Exactly the same state and output."""
    return all(np.array_equal(a, b) for a, b in zip((*x[0], x[1]), (*y[0], y[1]), strict=True))


def agree(variant: Variant, arguments: Arguments) -> bool:
    """The proof over the field: every route gives exactly what the recurrence gives."""
    recurrent = forms.recurrent(variant, *arguments)
    return all(equal(route(variant, *arguments), recurrent) for route in routes(variant).values())


def close(x: Any, y: Any, operations: int = 1000) -> bool:
    """Equal up to the rounding of that many float64 operations, relative to the largest element."""
    if np.shape(x) != np.shape(y):
        return False
    largest = np.max(np.abs(y), initial=0, where=np.isfinite(y))
    differ = np.not_equal(x, y)  # log zero is -inf
    x, y = np.asarray(x)[differ], np.asarray(y)[differ]
    return bool(np.all(np.abs(x - y) <= operations * 2.0**-53 * largest))


def all_close(x: tuple[Any, tuple], y: tuple[Any, tuple]) -> bool:
    """The same for an output and its state."""
    return all(close(a, b) for a, b in zip((x[0], *x[1]), (y[0], *y[1]), strict=True))


def start_of(form: str, state: Any) -> Any:
    """The initial state, for a form that has one."""
    return None if form == "bidirectional" else state


def turned(variant: Variant, inputs: dict[str, Any]) -> dict[str, Any]:
    """(..., H, T, D) to (..., T, H, D)."""
    timed = {item.name for item in variant.inputs if item.time is not None}
    return {name: np.swapaxes(x, -2, -3) if name in timed else x for name, x in inputs.items()}


def spread(x: Any) -> Any:
    """The standard deviation of noisy numbers over their samples."""
    return np.asarray(x).std(axis=0)


def irrational(*shape: int) -> np.ndarray:
    """Numbers between 1 and 2 that no short format holds."""
    return 1 + np.random.default_rng(0).uniform(size=shape)
