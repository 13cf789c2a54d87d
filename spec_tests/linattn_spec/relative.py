"""States relative to exp(m): what counts is what they stand for, whatever m an implementation chooses.

It may start at -inf, at -1e30 or at 0, and be the largest log weight so far or that of a block.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from linattn.record import Variant


def alike(variant: Variant, got: Mapping[str, Any], want: Mapping[str, Any]) -> dict[str, Any]:
    """Results with their states relative to the exponents of ``want``. What has another shape stays as it came."""
    found = dict(got)
    for name, base, more in relative_states(variant):
        if all(x in got and x in want and fits(got[x], want[x]) for x in (name, base)):
            with np.errstate(all="ignore"):
                factor = np.exp(got[base] - finite(want[base]))
                found[name] = got[name] * factor.reshape(factor.shape + (1,) * more)
            found[base] = 0 * got[base] + want[base] if want[base].size else got[base]
    return found


def relative_states(variant: Variant) -> Iterator[tuple[str, str, int]]:
    """The names of the result and of its exponent, and how many axes it has more."""
    axes = {item.name: len(item.axes.split()) for item in variant.state}
    for item in variant.state:
        if item.relative_to:
            names = (f"final_state/{name}" for name in (item.name, item.relative_to))
            yield *names, axes[item.name] - axes[item.relative_to]


def fits(x: Any, y: Any) -> bool:
    """Samples of noisy arithmetic come first."""
    return x.shape[x.ndim - y.ndim :] == y.shape


def finite(exponent: Any) -> Any:
    """Relative to log 0 there is nothing but zeros."""
    return np.where(exponent == -np.inf, 0, exponent)
