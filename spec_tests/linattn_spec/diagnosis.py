"""The matched filter: which documented mistake do the errors look like?

The signature of a mistake is what it changes in a case, in units. The errors are projected on it: a coefficient of
1 is the mistake itself, and what is left over says how well it explains them. A mistake that a case does not
resolve is never named. Errors that point along a signature are rejected even within the limits: they are not
rounding.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

import linattn_golden
from linattn.record import Variant
from linattn.variants import variant as find_variant
from linattn_spec import relative
from linattn_spec.comparison import Comparison
from linattn_spec.matching import EXPLAINED, HUGE, REJECTED, RESOLVED, Match, Signatures, explain
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.record import Call, Mistake, Results, call_of, right
from linattn_spec.mistakes.small import REFUSALS
from linattn_spec.profiles import PROFILES, Profile
from linattn_spec.subject import Subject, truth_of
from linattn_spec.verdict import LEAST

EXACT = 2.0**-60  # the unit for the filter of what must be exact: below any difference, and far from HUGE


@lru_cache(maxsize=32)
def differences(case_id: str, form: str) -> dict[str, dict[str, np.ndarray]]:
    """What every mistake changes in a case: wrong minus right, float64."""
    case = linattn_golden.case(case_id)
    variant, data = find_variant(case.variant), linattn_golden.load(case)
    return changes(call_of(variant, form, data.inputs, data.initial_state), case.exact)


def changes(call: Call, exact: bool = False) -> dict[str, dict[str, np.ndarray]]:
    """What every mistake that applies changes in the results of a call. Results of another shape are left out, and so
    is, where results must be ``exact``, what single precision loses.
    """
    found = {}
    with np.errstate(all="ignore"):
        truth = relative.absolute(call.variant, right(call))
        for mistake in MISTAKES:
            wrong = attempted(mistake, call) if mistake.applies(call.variant, call.form) else {}
            if wrong and all(wrong[name].shape == x.shape for name, x in truth.items()):
                wrong = relative.turned(call.variant, relative.absolute(call.variant, wrong), truth)
                wrong = {name: stored(x) if exact else x for name, x in wrong.items()}
                change = {name: wrong[name] - x for name, x in truth.items()}
                if not all(is_rounding(change[name], x) for name, x in truth.items()):
                    found[mistake.id] = change
    return found


def attempted(mistake: Mistake, call: Call) -> Results:
    """Nothing where it cannot be made in this very call."""
    try:
        return mistake.wrong(call)
    except REFUSALS:
        return {}


def is_rounding(change: np.ndarray, x: np.ndarray) -> bool:
    """Of float64: what a mistake changes that makes no difference here, and right implementations change as well."""
    return bool(np.max(np.abs(change), initial=0) <= 2.0**-40 * np.max(np.abs(x), initial=0))


def stored(x: np.ndarray) -> np.ndarray:
    """In single precision."""
    return x.astype(np.float32).astype(float)


def results_of(variant: Variant, form: str) -> tuple[str, ...]:
    """The names of all results that a function of that form may return."""
    state = [] if form == "bidirectional" else [f"final_state/{item.name}" for item in variant.state]
    return tuple(sorted(["output", *state]))


@lru_cache(maxsize=64)
def signatures(case_id: str, form: str, profile: Profile, names: tuple[str, ...]) -> Signatures:
    """Those results alone that a function returns: ``names``."""
    return signatures_of(differences(case_id, form), truth_of(case_id, profile, form).units, profile, names)


def signatures_of(
    found: Mapping[str, Mapping[str, np.ndarray]],
    units: Mapping[str, np.ndarray],
    profile: Profile,
    names: tuple[str, ...],
) -> Signatures:
    """A precision that a profile allows is no mistake in it: its rounding would point along that very signature."""
    wrong = {one.id for one in MISTAKES if declared(profile) in one.profiles}
    chosen = {name: in_units(x, units, names) for name, x in found.items() if name in wrong}
    values = np.array(list(chosen.values()))
    return Signatures(tuple(chosen), values, np.sum(values**2, axis=-1))


def declared(profile: Profile) -> str:
    """The one of the three profiles that mistakes declare which promises no more than ``profile``."""
    if min(profile.operand_bits, profile.output_bits) >= PROFILES["fp32"].bits:
        return "fp32"
    return "fp16" if profile.output_bits == PROFILES["fp16"].output_bits else "bf16"


def of(subject: Subject, comparison: Comparison) -> Match | None:
    """What the errors of a golden check look like. Recipes have no signatures."""
    errors = errors_of(comparison)
    if subject.case.kind == "recipe":
        return None
    if np.sum(errors**2) < (RESOLVED * REJECTED) ** 2:
        return None  # too small to point along anything that is resolved
    return explain(errors, known_to(subject, comparison), tolerated(comparison))


def known_to(subject: Subject, comparison: Comparison) -> Signatures:
    exchange, names = subject.exchange, tuple(sorted(comparison.got))
    return signatures(subject.case.id, exchange.function.form, exchange.profile, names)


def errors_of(comparison: Comparison) -> np.ndarray:
    """Got minus want in units, for the filter."""
    names = tuple(sorted(comparison.got))
    return in_units({name: comparison.got[name] - comparison.want[name] for name in names}, comparison.units, names)


def tolerated(comparison: Comparison) -> float:
    """The share of the errors that a mistake may leave unexplained: anything, where the limits alone would accept."""
    return EXPLAINED if comparison.load > 1 else np.inf


def in_units(x: Mapping[str, np.ndarray], units: Mapping[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    """(heads, elements): all results side by side. Not finite: a huge number; undetermined tokens: 0."""
    heads, rows = min(x[name].shape[1] for name in names), []
    for name in names:
        with np.errstate(all="ignore"):
            own = np.where(units[name] == LEAST, EXACT, units[name])
            row = np.nan_to_num(x[name] / own, nan=HUGE, posinf=HUGE, neginf=-HUGE)
        row = np.where(np.isinf(units[name]), 0, row).clip(-HUGE, HUGE)
        row = row.reshape(row.shape[0], heads, -1)  # grouped heads side by side
        rows.append(np.moveaxis(row, 1, 0).reshape(heads, -1))
    return np.concatenate(rows, axis=1)
