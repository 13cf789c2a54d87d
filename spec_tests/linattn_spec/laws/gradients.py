"""Gradients against the proven ones: by every input and the initial state, for losses on the outputs, on the final
state, and on both. They have an oracle, and are planned like laws.

The unit of a gradient is what a backward pass of the reference strays in random arithmetic, as for results.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

import linattn_golden
from linattn import flat
from linattn.numbers import noise, tape
from linattn.record import Variant
from linattn.variants import variant as find_variant
from linattn_golden import Case
from linattn_spec import backward, verdict
from linattn_spec.backend import Function
from linattn_spec.comparison import Comparison
from linattn_spec.laws.law import Law
from linattn_spec.parts import HELD, SUMS, uses, with_parts
from linattn_spec.profiles import BITS, SMALLEST, Profile
from linattn_spec.subject import Subject
from linattn_spec.verdict import Truth
from linattn_spec.ways import CHUNK, with_noise

SCENARIOS = ("odd-dims", "square", "long", "plain", "grouped-query", "gates-strong", "gates-reset", "gates-far-below")
SEEN = {"both": "outputs and state", "output": "the outputs alone", "state": "the state alone"}
SAMPLES = 8
FLUSHED = 2.0**10  # a gradient is a sum of so many products, each of which may underflow


def compare(loss: str) -> Callable[[Subject], Iterator[Comparison]]:
    def gradient(subject: Subject) -> Iterator[Comparison]:
        names = linattn_golden.of_loss(loss, subject.data.cotangents)
        cotangents = {name: subject.data.cotangents[name] for name in names}
        got = backward.gradients(subject.exchange, subject.data.inputs, subject.state, cotangents)
        proven = truth_of(subject.case.id, subject.exchange.profile, loss)
        yield Comparison(got, proven.values, proven.units, what=f"gradients, loss on {SEEN[loss]}: ")

    return gradient


@lru_cache(maxsize=256)
def truth_of(case_id: str, profile: Profile, loss: str) -> Truth:
    """The golden gradients, and their units."""
    case = linattn_golden.case(case_id)
    variant, values = find_variant(case.variant), proven(case_id, loss)
    spreads = [strayed(case_id, profile, way, loss) for way in ways(case)]
    units = {n: np.max([unit(variant, profile, n, x, s[n]) for s in spreads], axis=0) for n, x in values.items()}
    return Truth(values, units)


@dataclass(frozen=True)
class Way:
    """How the reference runs backwards."""

    form: str
    chunk_size: int = CHUNK
    differences: bool = False  # of cumulative sums, in place of products of decays
    parts: tuple[tuple[str, Callable[..., Any]], ...] = ()  # other ones than its own


def ways(case: Case) -> Iterator[Way]:
    """Whatever the form: backward passes take the gradient by a log decay as a difference of q dq and k dk, summed over
    later tokens, in which large terms cancel. Decays as differences of cumulative sums show this, their products not.

    Nor do they follow the largest score, on which no output depends: the gradient by a score is p (dp - sum p dp),
    where a weight p of 1 leaves a difference of equal terms. To follow it would take the errors of both away.
    Through sums of logarithms a score gets what all later shares lose by it.
    """
    chunk, variant = min(CHUNK, case.dims["T"]), find_variant(case.variant)
    yield Way("recurrent")
    if not variant.parallel:
        return
    finite = np.isfinite(linattn_golden.load(case).inputs.get("log_decay", 0.0)).all()
    for parts in [{}, *(other for other in (HELD, SUMS) if any(uses(variant, part) for part in other))]:
        yield from (
            Way("chunkwise", chunk, own, tuple(parts.items())) for own in ([False, True] if finite else [False])
        )


def proven(case_id: str, loss: str) -> dict[str, np.ndarray]:
    """By every array; those by single numbers are no part of the check."""
    gradients = linattn_golden.load(linattn_golden.case(case_id)).gradients
    of_loss = {name.removeprefix(f"{loss}/"): x for name, x in gradients.items() if name.startswith(f"{loss}/")}
    return {name: x for name, x in of_loss.items() if np.ndim(x)}


@lru_cache(maxsize=256)
def strayed(case_id: str, profile: Profile, way: Way, loss: str) -> dict[str, np.ndarray]:
    """Gradient minus truth, for every sample of random arithmetic run backwards."""
    case = linattn_golden.case(case_id)
    variant, data, values = find_variant(case.variant), linattn_golden.load(case), proven(case_id, loss)
    numbers = flat.complete(variant, data.inputs, data.initial_state)
    arithmetic = noise.Arithmetic(
        profile.operand_bits, profile.bits, samples=SAMPLES, decays_by_differences=way.differences
    )
    computed = with_parts(variant, **dict(way.parts)) if way.parts else variant

    def noisy(name: str) -> Any:
        per_head = variant.has(name) and variant.input(name).time is None
        return with_noise(variant, name, numbers[name][None] if per_head else numbers[name], arithmetic)

    constant = {name: x for name, x in numbers.items() if name not in values}
    initial = [name for name in constant if name.startswith("initial_state/")]  # that is not given: one for each sample
    fresh = {name: np.broadcast_to(constant.pop(name), (SAMPLES, *np.shape(numbers[name]))) for name in initial}
    weights = {n: noise.noisy(data.cotangents[n], arithmetic) for n in linattn_golden.of_loss(loss, data.cotangents)}
    with np.errstate(all="ignore"):
        found = tape.gradients(
            lambda x: flat.compute(computed, constant | x, way.form, way.chunk_size),
            fresh | {name: noisy(name) for name in values},
            weights,
        )
    return {name: np.asarray(found[name]).reshape(SAMPLES, *x.shape) - x for name, x in values.items()}


def unit(variant: Variant, profile: Profile, name: str, values: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """As for results. The gradient by a log decay is a sum backwards in time, and shares the errors of its head."""
    item = variant.input(name) if variant.has(name) else None
    dtype = profile.state if item is None else profile.array if item.role == "data" else profile.gate
    bits = profile.output_bits if item is not None and item.role == "data" else BITS[dtype]
    flushed = FLUSHED * SMALLEST["float64" if profile.bits == 53 else "float32"]
    units = verdict.unit(values, spread, (2.0**-bits, max(SMALLEST[dtype], flushed)))
    if item is not None and item.kind == "log" and item.role == "gate":
        units = np.maximum(units, np.sqrt(np.mean(spread**2, axis=(0, -2, -1)))[..., None, None])
    return units


def has_backward(function: Function, loss: str) -> bool:
    """A loss on a state that is relative to another one depends on the choice of that, which is free."""
    free = any(item.relative_to for item in find_variant(function.variant).state)
    return function.vjp is not None and (loss == "output" or not free)


LOSSES = {"gradient": "both", "gradient-output": "output", "gradient-state": "state"}
GRADIENTS = tuple(
    Law(kind, compare(loss), SCENARIOS, causal=True, applies=partial(has_backward, loss=loss), bound=True)
    for kind, loss in LOSSES.items()
)
