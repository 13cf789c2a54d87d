"""The verdict: errors in units of the spec's own rounding noise, and the limits on them.

The unit of an element is the root mean square of what the reference itself strays there in random arithmetic of the
promised precision (``linattn.numbers.noise``), at least that of its row, together with the rounding of the stored
result. Where a closed form is promised, the reference computes as the recurrence and in chunks, and the larger noise
counts. The same few limits hold for every variant, form, length and precision. A matched filter on documented
mistakes acts on the same errors.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linattn import forms, heads, validate
from linattn.numbers import noise
from linattn.record import Variant
from linattn_spec import relative
from linattn_spec.profiles import BITS, SMALLEST, Profile
from linattn_spec.ways import CHUNK, WHOLE, Way, is_log_decay, ways, with_all_axes, with_noise

LIMITS = {
    "rms": 3.0,
    "token": 8.0,
    "element": 24.0,
}  # units, of a whole array, of its worst token, of its worst element
POLE = 8  # a token whose noise exceeds 1/8 of its size is undetermined (a denominator near 0): reported, never judged
WIDE = 64
OTHER_PARTS = {"real": "imag", "imag": "real", "cos": "sin", "sin": "cos"}
LEAST = 2.0**-1000  # the unit of what must be exact: any difference is beyond every limit


@dataclass(frozen=True)
class Truth:
    """The true results of a case and their units: "output" and "final_state/NAME". A unit of inf: undetermined."""

    values: dict[str, np.ndarray]
    units: dict[str, np.ndarray]


@dataclass(frozen=True)
class Measure:
    """The size of the errors of one array, in units; ``load`` is the share of the closest limit (1: at the limit)."""

    rms: float
    token: float
    element: float
    finite: bool = True

    @property
    def load(self) -> float:
        return max(getattr(self, name) / limit for name, limit in LIMITS.items()) if self.finite else np.inf

    @property
    def ok(self) -> bool:
        return self.load <= 1


def truth(variant: Variant, profile: Profile, form: str, inputs: Mapping[str, Any], state: tuple | None) -> Truth:
    """The float64 reference and the units of its results, from arrays in the reference layout.

    Without a state, None or (), it starts from the initial one; the bidirectional form has none.
    """
    arrays, sizes = validate.complete(variant, inputs)
    arranged = heads.arrange(variant, arrays)
    start = validate.complete_state(variant, state or None, arranged, sizes)

    def compute(numbers: Mapping[str, Any], way: Way) -> dict[str, Any]:
        own = tuple(numbers[f"initial_state/{item.name}"] for item in variant.state)
        sequence = {item.name: numbers[item.name] for item in variant.inputs}
        return named(variant, *forms.run(way.variant, way.form, own, sequence, way.chunk_size))

    numbers = arranged.inputs | {f"initial_state/{item.name}": x for item, x in zip(variant.state, start, strict=True)}
    values = compute(numbers, Way(variant, "bidirectional" if form == "bidirectional" else variant.usual_form))
    samples = 4 if values["output"].shape[-1] >= WIDE else 16  # wide rows average over their own elements
    arithmetic = noise.Arithmetic(
        profile.operand_bits, profile.bits, gate_chunk=WHOLE if form == "parallel" else CHUNK, samples=samples
    )
    wide = {name: with_all_axes(variant, name, x, len(arranged.leading)) for name, x in numbers.items()}

    def strayed(way: Way) -> dict[str, Any]:
        own = replace(arithmetic, decays_by_differences=way.differences)
        noisy = {name: with_noise(variant, name, x, own) for name, x in wide.items()}
        return noise.deviations(lambda x: relative.alike(variant, compute(x, way), values), noisy, values)

    copies = samples * int(np.prod(arranged.leading))
    finite = all(np.isfinite(numbers[item.name]).all() for item in variant.inputs if is_log_decay(item))
    turning = relative.angles(variant)
    found = [units_of(profile, values, strayed(way), turning) for way in ways(variant, form, copies, sizes, finite)]
    units = {name: np.max([one[name] for one in found], axis=0) for name in values}
    return Truth(*(merged(variant, x, arranged.groups) for x in relative.meant(variant, values, units)))


def named(variant: Variant, state: tuple, output: Any) -> dict[str, Any]:
    return {"output": output} | {f"final_state/{s.name}": x for s, x in zip(variant.state, state, strict=bool(state))}


def merged(variant: Variant, results: dict[str, Any], groups: int) -> dict[str, Any]:
    state = tuple(x for name, x in results.items() if name != "output")
    return named(variant, *heads.merge(variant, state, results["output"], groups))


def rounding(profile: Profile, name: str, turning: bool = False) -> tuple[float, float]:
    """Relative and absolute error of storing a result; an angle may be stored as one of up to a whole turn."""
    if name == "output":
        return 2.0**-profile.output_bits, SMALLEST[profile.array]
    relative = 2.0 ** -BITS[profile.state]
    return relative, max(SMALLEST[profile.state], 2 * np.pi * relative * turning)


def units_of(
    profile: Profile, values: Mapping[str, Any], spread: Mapping[str, Any], turning: Collection[str] = ()
) -> dict[str, np.ndarray]:
    """A complex number errs as a whole, since it may be computed in any frame: its parts share their rows."""
    found = {}
    for name, x in values.items():
        parts = [name, *({other_part(name)} & set(values))]
        both, strayed = (np.concatenate([of[part] for part in parts], axis=-1) for of in (values, spread))
        found[name] = unit(both, strayed, rounding(profile, name, name in turning))[..., : x.shape[-1]]
    return found


def other_part(name: str) -> str:
    stem, _, part = name.rpartition("_")
    return f"{stem}_{OTHER_PARTS.get(part, '')}"


def unit(values: np.ndarray, spread: np.ndarray, rounding: tuple[float, float]) -> np.ndarray:
    """Noise, floored by that of its row, and the rounding of the stored result; inf at undetermined tokens."""
    relative, absolute = rounding
    noise_here = rms(spread, axis=0)
    row = rms(noise_here, axis=-1, keepdims=True)
    undetermined = (row > typical(values) / POLE) & (row > absolute) | ~np.isfinite(row)
    stored = np.maximum(relative * np.abs(values), absolute) / 3**0.5
    return np.where(undetermined, np.inf, np.hypot(np.maximum(noise_here, row), stored))


def typical(values: np.ndarray) -> np.ndarray:
    """The size of each row, at least the median of all rows: a row small by cancellation is no pole."""
    size = rms(values, axis=-1, keepdims=True)
    return np.maximum(size, np.median(size, axis=-2, keepdims=True)) if size.size else size


def rms(x: np.ndarray, axis: int, keepdims: bool = False) -> np.ndarray:
    """The root mean square; no square underflows or overflows."""
    if not x.size:
        return np.mean(x, axis=axis, keepdims=keepdims)
    largest = np.max(np.abs(x), axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):  # what is not finite stays so
        scaled = np.where(largest > 0, x / np.where(largest > 0, largest, 1), 0)
        return (np.sqrt(np.mean(scaled**2, axis=axis, keepdims=True)) * largest).sum(axis=axis, keepdims=keepdims)


def measure(errors: np.ndarray) -> Measure:
    """``errors`` in units; a width of the last axis is a token (of a state: a row)."""
    if not np.isfinite(errors).all():
        return Measure(np.inf, np.inf, np.inf, finite=False)
    if not errors.size:
        return Measure(0.0, 0.0, 0.0)
    with np.errstate(over="ignore"):  # what must be exact is off by any number of units
        square = errors**2
    return Measure(
        float(np.sqrt(square.mean())), float(np.sqrt(square.mean(axis=-1).max())), float(np.sqrt(square.max()))
    )
