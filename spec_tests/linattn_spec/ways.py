"""The ways in which the reference computes in noise where a form is promised: each strays as kernels of its kind do.

A closed form sums terms that the recurrence never holds. In a delta rule the writes of a chunk much longer than K
contradict each other: the triangular system takes back what it has summed, and digits are lost. Kernels multiply
with its inverse, whose rounding no later write corrects, as it would in a substitution. Under a normaliser terms
cancel whose sum the recurrence holds as one small number: a pole for one order of summation is none for the other.
A chunk, in turn, rounds the state less often. So the larger noise counts, element by element, and a token is
undetermined where any of them says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np

from linattn.numbers import noise
from linattn.record import Input, Variant
from linattn_spec.parts import SUMS, by_inverse, by_logarithms, uses, with_parts

CHUNK = 64  # tokens that a form takes at once, and over which it sums log decays
WHOLE = 256  # the same of the parallel form
WEIGHTS = 2**24  # of pairs of tokens, held at once: where there are more, the parallel form takes fewer tokens


@dataclass(frozen=True)
class Way:
    """How the reference computes."""

    variant: Variant
    form: str
    chunk_size: int = CHUNK
    differences: bool = False  # of cumulative sums: it is not the log decays that err, but what is computed of them


def ways(variant: Variant, form: str, copies: int, sizes: Mapping[str, int], finite: bool = True) -> list[Way]:
    """Those whose noise counts where ``form`` is promised. ``copies`` of every weight are computed at once; ``finite``
    are the gates that have differences.
    """
    if form == "bidirectional":
        return [Way(replace(variant, bidirectional=(route, route)), form) for route in routes(variant, sizes)]
    sticks = [with_parts(variant, **SUMS)] * uses(variant, "broken")
    one_by_one = [Way(variant, "recurrent"), *(Way(one, "chunkwise", 1) for one in sticks)]
    if form == "recurrent":
        return one_by_one
    chunk = CHUNK
    if form == "parallel":
        chunk = max(CHUNK, min(WHOLE, isqrt(WEIGHTS // (copies * channels(variant, sizes)))))
    closed = [variant, *sticks]
    for part, way in (("unit_lower_solve", by_inverse), ("softmax_over_time", by_logarithms)):
        closed += [with_parts(variant, **{part: way})] * uses(variant, part)
    computed = [False, True] if finite and differs(variant) else [False]
    return [*one_by_one, *(Way(one, "chunkwise", chunk, own) for one in closed for own in computed)]


def routes(variant: Variant, sizes: Mapping[str, int]) -> tuple[Callable[..., Any], ...]:
    """To the bidirectional form: both, where it is not too long for that which holds weights of all pairs of tokens."""
    both = variant.bidirectional or ()
    return both if sizes["T"] <= WHOLE else both[:1]


def differs(variant: Variant) -> bool:
    """Whether errors of cumulative sums are others than those of log decays: they are computed inside, or are also used
    alone, as in 1 - exp(log_decay).
    """
    given = any(map(is_log_decay, variant.inputs))
    return uses(variant, "decays") and (not given or uses(variant, "exp", outside="decays"))


def channels(variant: Variant, sizes: Mapping[str, int]) -> int:
    """How many weights a pair of tokens has: those with decays or stabilisers of their own."""
    if not (uses(variant, "decays") or uses(variant, "stabilised")):
        return 1
    decays = (item.axes for item in variant.inputs if is_log_decay(item))
    stabilisers = (item.axes for item in variant.state if item.kind == "log" and "P" not in item.axes.split())
    return max((sizes.get(axes.split()[-1], 1) for axes in (*decays, *stabilisers)), default=1)


def is_log_decay(item: Input) -> bool:
    """Whether kernels add it up over a chunk."""
    return item.kind == "log" and item.domain == (-np.inf, 0)


def strongest_gate(variant: Variant, inputs: Mapping[str, Any]) -> float:
    """The least of all log decays."""
    gates = [inputs[item.name] for item in variant.inputs if is_log_decay(item) and item.name in inputs]
    return min((float(np.min(x, initial=0)) for x in gates), default=0.0)


def with_noise(variant: Variant, name: str, x: Any, arithmetic: noise.Arithmetic) -> Any:
    if not np.ndim(x):
        return x
    decays = variant.has(name) and is_log_decay(variant.input(name)) and not arithmetic.decays_by_differences
    if not decays:
        return noise.noisy(x, arithmetic)
    item = variant.input(name)
    if item.time is None:
        return noise.noisy_constant_log_decay(x, arithmetic)
    return noise.noisy_log_decay(x, arithmetic, axis=item.time)


def with_all_axes(variant: Variant, name: str, x: Any, leading: int) -> Any:
    """A parameter per head has no batch: the axis of the samples must not stand in its place."""
    if not np.ndim(x) or not variant.has(name):
        return x
    missing = leading + len(variant.input(name).axes.split()) - np.ndim(x)
    return x.reshape((1,) * max(missing, 0) + np.shape(x))
