"""Can a mistake be made in a variant at all? A small call tells."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import permutations, product
from typing import Any

import numpy as np

import linattn_golden
from linattn.record import Variant
from linattn_spec import drawn

HEADS = ("Hq", "Hk", "Hv")
TOKENS = 18  # two more than a chunk of the mistakes
REFUSALS = (ValueError, TypeError, KeyError, IndexError, AttributeError)
_known: dict[tuple[Hashable, int, str], bool] = {}


def runs(wrong: Hashable, variant: Variant, form: str, make: Callable[[dict[str, Any], tuple | None], Any]) -> bool:
    """Whether ``make(inputs, state)``, a call of ``wrong``, computes anything: variants may look alike and work
    otherwise.
    """
    key = wrong, id(variant.step), form
    if key not in _known:
        _known[key] = all(computes(variant, scenario, make) for scenario in scenarios(variant))
    return _known[key]


def computes(variant: Variant, scenario: str, make: Callable[[dict[str, Any], tuple | None], Any]) -> bool:
    data = linattn_golden.load(drawn.case(variant, scenario))
    try:
        with np.errstate(all="ignore"):
            make(data.inputs, data.initial_state)
    except REFUSALS:
        return False
    return True


def scenarios(variant: Variant) -> Iterator[str]:
    """Sizes that all differ, so that mixed-up axes do not fit; equal ones, where they do; and grouped heads."""
    own = [axis for axis in drawn.axes_of(variant) if axis not in drawn.COMMON]
    different = first_that_fits(variant, own, permutations(range(4, 12), len(own)))
    equal = first_that_fits(variant, own, product(range(4, 0, -1), repeat=len(own)))
    for heads, widths in (((3, 3, 3), different), ((3, 3, 3), equal), ((4, 2, 2), equal), ((2, 2, 4), equal)):
        sizes = {"B": 2, "T": TOKENS, **dict(zip(HEADS, heads, strict=True)), **widths}
        yield drawn.scenario({**sizes, "initial_state": "drawn"})


def first_that_fits(variant: Variant, axes: list[str], choices: Iterable[tuple[int, ...]]) -> dict[str, int]:
    sizes = (dict(zip(axes, choice, strict=True)) for choice in choices)
    return next(widths for widths in sizes if variant.fits(widths))
