"""The matched filter: which documented mistake do the errors look like?

The signature of a mistake is what it changes in a case, in units. The errors are projected on it: a coefficient of
1 is the mistake itself, and what is left over says how well it explains them. A mistake that a case does not
resolve is never named. Errors that point along a signature are rejected even within the limits: they are not
rounding.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

import linattn_golden
from linattn.variants import variant as find_variant
from linattn_spec.comparison import Comparison
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.record import call_of, right
from linattn_spec.profiles import Profile
from linattn_spec.subject import Subject, truth_of

RESOLVED = 20.0  # units: the norm from which on a signature stands out of rounding
REJECTED = 0.5  # a coefficient above it is no rounding
EXPLAINED = 0.25  # the share of the errors that a mistake may leave over and still be named
HUGE = 1e30  # stands for a value that is not finite


@dataclass(frozen=True)
class Match:
    """The mistakes that explain the errors, the best one first: more than one where the case cannot tell them
    apart.
    """

    mistakes: tuple[str, ...]
    coefficient: float
    left_over: float
    heads: tuple[int, ...] = ()  # the only ones in which it is made; empty: all

    def __str__(self) -> str:
        names = " or ".join(f"`{name}`" for name in self.mistakes[:3])
        where = f" in head{'s' * (len(self.heads) > 1)} {', '.join(map(str, self.heads))}" if self.heads else ""
        return f"looks like {names}{where} (coefficient {self.coefficient:.2f})"


@dataclass(frozen=True)
class Signatures:
    """All mistakes that apply to a case: (mistakes, heads, elements) in units, and the squares of the norms."""

    ids: tuple[str, ...]
    values: np.ndarray
    powers: np.ndarray

    def resolves(self, mistake: str) -> bool:
        return mistake in self.ids and bool(self.powers[self.ids.index(mistake)].sum() >= RESOLVED**2)

    def without(self, mistake: str) -> "Signatures":
        keep = [n for n, name in enumerate(self.ids) if name != mistake]
        return Signatures(tuple(self.ids[n] for n in keep), self.values[keep], self.powers[keep])


@lru_cache(maxsize=32)
def differences(case_id: str, form: str) -> dict[str, dict[str, np.ndarray]]:
    """What every mistake changes in a case: wrong minus right, float64."""
    case = linattn_golden.case(case_id)
    variant, data = find_variant(case.variant), linattn_golden.load(case)
    call = call_of(variant, form, data.inputs, data.initial_state)
    found = {}
    with np.errstate(all="ignore"):
        truth = right(call)
        for mistake in MISTAKES:
            wrong = mistake.wrong(call) if mistake.applies(variant, form) else {}
            if wrong and all(wrong[name].shape == x.shape for name, x in truth.items()):
                found[mistake.id] = {name: wrong[name] - x for name, x in truth.items()}
    return found


@lru_cache(maxsize=64)
def signatures(case_id: str, form: str, profile: Profile, names: tuple[str, ...]) -> Signatures:
    """Those results alone that a function returns: ``names``."""
    found, units = differences(case_id, form), truth_of(case_id, profile, "recurrent").units
    values = np.array([in_units(x, units, names) for x in found.values()])
    return Signatures(tuple(found), values, np.sum(values**2, axis=-1))


def of(subject: Subject, comparison: Comparison) -> Match | None:
    """What the errors of a golden check look like. Recipes and the bidirectional form have no signatures."""
    errors = errors_of(comparison)
    if subject.case.kind == "recipe" or subject.exchange.function.form == "bidirectional":
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
            row = np.nan_to_num(x[name] / units[name], nan=HUGE, posinf=HUGE, neginf=-HUGE)
        row = np.where(np.isinf(units[name]), 0, row).clip(-HUGE, HUGE)
        row = row.reshape(row.shape[0], heads, -1)  # grouped heads side by side
        rows.append(np.moveaxis(row, 1, 0).reshape(heads, -1))
    return np.concatenate(rows, axis=1)


def explain(errors: np.ndarray, known: Signatures, unexplained: float = EXPLAINED) -> Match | None:
    """The mistakes that ``errors`` (heads, elements) look like, with at most this share of them left unexplained."""
    lost = np.mean(np.abs(errors) >= HUGE)
    if not known.ids or not errors.any() or lost > EXPLAINED:  # values that are not finite look like each other
        return None
    products = np.einsum("mhn,hn->mh", known.values, errors)
    squares = np.sum(errors**2, axis=-1)
    wrong = tuple(int(head) for head in np.flatnonzero(squares > RESOLVED**2))
    every = tuple(range(len(squares)))
    found = [match for heads in {every, wrong} - {()} for match in over(heads, products, squares, known, every)]
    found = [match for match in found if match.left_over < unexplained]
    if not found:
        return None
    found.sort(key=lambda match: (match.left_over, len(match.heads)))
    rounding = min(EXPLAINED / 2, (errors.size / max(squares.sum(), 1e-300)) ** 0.5)
    close = [match for match in found if match.left_over <= found[0].left_over + 2 * rounding]
    heads = min((match.heads for match in close if match.mistakes == found[0].mistakes), key=len)  # rather all heads
    same = [match for match in close if match.heads == heads]
    ids = tuple(match.mistakes[0] for match in same)
    return Match(ids, same[0].coefficient, same[0].left_over, heads)


def over(
    heads: tuple[int, ...], products: np.ndarray, squares: np.ndarray, known: Signatures, every: tuple[int, ...]
) -> list[Match]:
    """The mistakes along which the errors of these heads point."""
    chosen = list(heads)
    product, power = products[:, chosen].sum(axis=1), known.powers[:, chosen].sum(axis=1)
    size = max(squares[chosen].sum(), 1e-300)
    coefficient = product / np.maximum(power, 1e-300)
    left_over = np.sqrt(np.maximum(size - 2 * product + power, 0) / size)
    named = (power > RESOLVED**2) & (coefficient > REJECTED)
    return [
        Match((known.ids[n],), float(coefficient[n]), float(left_over[n]), () if heads == every else heads)
        for n in np.flatnonzero(named)
    ]
