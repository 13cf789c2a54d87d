"""States that may be held in more than one way: what counts is what they stand for.

Angles count modulo one turn. States relative to exp(m) are multiplied by it, whatever m an implementation chooses.

It may start at -inf, at -1e30 or at 0, and be the largest log weight so far or that of a block.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linattn.families import finite
from linattn.record import Variant

Arrays = Mapping[str, Any]  # "output" and "final_state/NAME"


def absolute(variant: Variant, results: Arrays) -> dict[str, Any]:
    """Results with their states relative to nothing: m is 0."""
    none = {base: np.zeros_like(results[base]) for _, base, _ in states(variant) if base in results}
    return scaled(variant, results, results) | none


def alike(variant: Variant, results: Arrays, want: Arrays) -> dict[str, Any]:
    """Results with their states relative to the exponents of ``want``, as plain numbers."""
    plain = {name: np.asarray(x) for name, x in results.items()}
    bases = [base for _, base, _ in states(variant) if base in results]
    with np.errstate(invalid="ignore"):
        shifts = {base: plain[base] - finite(want[base]) for base in bases}
    return scaled(variant, plain, shifts) | {base: want[base] for base in bases}


def meant(variant: Variant, values: Arrays, units: Arrays) -> tuple[dict[str, Any], dict[str, Any]]:
    """What results stand for, and the units of that: an error of m is one of them too."""
    found = dict(units)
    for name, base, more in states(variant):
        if base in units:
            stored = np.where(values[name], np.abs(values[name]) * widened(units[base], more), 0)
            found[name] = np.hypot(units[name], stored)
    return absolute(variant, values), scaled(variant, found, values)


def scaled(variant: Variant, results: Arrays, exponents: Arrays) -> dict[str, Any]:
    """Relative states times the exponential of their exponents."""
    found = dict(results)
    for name, base, more in states(variant):
        if name in results and base in exponents:
            with np.errstate(all="ignore"):
                found[name] = results[name] * widened(np.exp(exponents[base]), more)
    return found


def turned(variant: Variant, results: Arrays, want: Arrays) -> dict[str, Any]:
    """Results with their angles less the whole turns by which they are apart from ``want``."""
    found = dict(results)
    with np.errstate(invalid="ignore"):  # what is not finite stays so
        for name in angles(variant) & set(results):
            found[name] = results[name] - 2 * np.pi * np.rint((results[name] - want[name]) / (2 * np.pi))
    return found


def angles(variant: Variant) -> set[str]:
    """The names of states that are angles: they count modulo one turn."""
    return {f"final_state/{item.name}" for item in variant.state if item.kind == "angle"}


def states(variant: Variant) -> Iterator[tuple[str, str, int]]:
    """The names of a relative state and of its exponent, and how many axes it has more."""
    axes = {item.name: len(item.axes.split()) for item in variant.state}
    for item in variant.state:
        if item.relative_to:
            more = axes[item.name] - axes[item.relative_to]
            yield f"final_state/{item.name}", f"final_state/{item.relative_to}", more


def widened(x: Any, more: int) -> Any:
    return x.reshape(x.shape + (1,) * more)
