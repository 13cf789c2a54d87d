"""Which documented mistake do wrong gradients look like? The matched filter of ``diagnosis`` over all gradients."""

from functools import lru_cache

import numpy as np

import linattn_golden
from linattn import flat
from linattn.variants import variant as find_variant
from linattn_spec import diagnosis
from linattn_spec.comparison import Comparison
from linattn_spec.diagnosis import Match, Signatures
from linattn_spec.laws.gradients import truth_of
from linattn_spec.mistakes.backward_pass import Backward, right
from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES
from linattn_spec.profiles import Profile
from linattn_spec.subject import Subject


def backward_of(case_id: str, loss: str) -> Backward:
    """The backward pass of a case in float64."""
    case = linattn_golden.case(case_id)
    variant, data = find_variant(case.variant), linattn_golden.load(case)
    cotangents = {name: data.cotangents[name] for name in linattn_golden.of_loss(loss, data.cotangents)}
    return Backward(variant, flat.complete(variant, data.inputs, data.initial_state), cotangents)


@lru_cache(maxsize=64)
def differences(case_id: str, loss: str) -> dict[str, dict[str, np.ndarray]]:
    """What every mistake changes in the gradients of a case: wrong minus right."""
    backward = backward_of(case_id, loss)
    with np.errstate(all="ignore"):
        truth = right(backward)
        applying = [mistake for mistake in GRADIENT_MISTAKES if mistake.applies(backward.variant)]
        wrong = {mistake.id: mistake.wrong(backward) for mistake in applying}
    return {one: {name: x[name] - truth[name] for name in truth} for one, x in wrong.items()}


@lru_cache(maxsize=64)
def signatures(case_id: str, profile: Profile, loss: str, names: tuple[str, ...]) -> Signatures:
    """Those gradients alone that a function returns; of what the profile allows, nothing is a mistake."""
    allowed = {one.id for one in GRADIENT_MISTAKES if diagnosis.declared(profile) in one.profiles}
    found = {name: x for name, x in differences(case_id, loss).items() if name in allowed}
    units = truth_of(case_id, profile, loss).units
    values = np.array([in_units(x, units, names) for x in found.values()])
    return Signatures(tuple(found), values, np.sum(values**2, axis=-1))


def in_units(x: dict[str, np.ndarray], units: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    """(1, elements): all gradients side by side."""
    wide = {name: np.reshape(x[name], (1, 1, -1)) for name in names}
    return diagnosis.in_units(wide, {name: np.reshape(units[name], (1, 1, -1)) for name in names}, names)


def of(subject: Subject, comparison: Comparison, loss: str) -> Match | None:
    exchange, names = subject.exchange, tuple(sorted(comparison.got))
    errors = {name: comparison.got[name] - comparison.want[name] for name in names}
    known = signatures(subject.case.id, exchange.profile, loss, names)
    return diagnosis.explain(in_units(errors, dict(comparison.units), names), known, diagnosis.tolerated(comparison))
