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
_known: dict[tuple[Hashable, Hashable, str], bool] = {}
_calls: dict[tuple[Hashable, Hashable, str], tuple[Any, ...]] = {}


def runs(wrong: Callable[[Any], Any], variant: Variant, form: str, prepare: Callable[..., Any]) -> bool:
    """Whether ``wrong`` computes anything from small calls, ``prepare(variant, form, inputs, state)``: variants may
    look alike and work otherwise.
    """
    key = wrong, variant.step, form
    if key not in _known:
        _known[key] = all(computes(wrong, call) for call in calls(variant, form, prepare))
    return _known[key]


def calls(variant: Variant, form: str, prepare: Callable[..., Any]) -> tuple[Any, ...]:
    """One for every scenario. All mistakes are tried on the same ones."""
    key = prepare, variant.step, form
    if key not in _calls:
        drawn_cases = (linattn_golden.load(drawn.case(variant, scenario)) for scenario in scenarios(variant))
        _calls[key] = tuple(prepare(variant, form, data.inputs, data.initial_state) for data in drawn_cases)
    return _calls[key]


def computes(wrong: Callable[[Any], Any], call: Any) -> bool:
    try:
        with np.errstate(all="ignore"):
            wrong(call)
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
