"""The power of the suite: every mistake as a mutant against the checks that must reject it, one variant and form at a
time, and how far each golden case shows it.
"""

import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import linattn_golden
from linattn.variants import variant as find_variant
from linattn_spec import checks, diagnosis
from linattn_spec.backend import Backend
from linattn_spec.exchange import WrongReturn
from linattn_spec.laws import LAWS
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.mutant import mutant
from linattn_spec.mistakes.small import REFUSALS
from linattn_spec.profiles import PROFILES
from linattn_spec.results import Check
from linattn_spec.subject import subject_of


@dataclass(frozen=True)
class Trial:
    """A mutant of one variant, form and profile against one kind of check: on how many cases it was judged, and how
    many saw it.
    """

    mistake: str
    variant: str
    form: str
    profile: str
    check: str  # "golden" or the name of a law
    judged: int
    killed: int
    killed_without: int  # with the mistake left out of the filter
    named: int  # the mistake is among those that its case cannot tell apart
    resolved: int  # cases in which its signature stands out of rounding

    @property
    def is_named(self) -> bool:
        """By most of the cases that reject it. Laws name nothing."""
        return 2 * self.named >= self.killed > 0


@dataclass(frozen=True)
class Sight:
    """How far a golden case shows a mistake: the norm of what it changes, in units; inf where a value is lost."""

    mistake: str
    variant: str
    form: str
    profile: str
    case: str
    units: float


def trials(variant: str, form: str, profiles: tuple[str, ...], chosen: tuple[str, ...] = ()) -> list[Trial]:
    """All mistakes that apply, or the chosen ones. The signatures of a case are computed once for all mutants."""
    record = find_variant(variant)
    backends = {
        m.id: mutant(m, profiles=tuple(p for p in profiles if p in m.profiles), only=((record, form),))
        for m in MISTAKES
        if m.applies(record, form) and m.id in (chosen or [m.id])
    }
    seen: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # mutants overflow, and are meant to
        for check in planned(variant, form, profiles):
            for one, backend in backends.items():
                if backend.functions[0].promises(check.profile) and check.kind in kinds(one):
                    seen[one, check.profile, check.kind].update(verdicts(one, backend, check))
    return [
        Trial(one, variant, form, profile, kind, **{name: counts[name] for name in COUNTED})
        for (one, profile, kind), counts in seen.items()
        if counts["judged"]
    ]


COUNTED = ("judged", "killed", "killed_without", "named", "resolved")


def kinds(mistake: str) -> tuple[str, ...]:
    """The kinds of checks that must reject it."""
    return next(one.seen_by for one in MISTAKES if one.id == mistake)


def planned(variant: str, form: str, profiles: tuple[str, ...]) -> Iterator[Check]:
    """All golden cases and all laws, on certified cases; kind by kind, so that the signatures of a case stay near."""
    scenarios = [case.id.split("/")[1] for case in linattn_golden.cases(variant, "certified")]
    tried = {"golden": scenarios} | {law.name: [s for s in law.scenarios if s in scenarios] for law in LAWS}
    for profile in profiles:
        for kind, some in tried.items():
            yield from (Check(variant, scenario, form, profile, kind) for scenario in some)


def verdicts(mistake: str, backend: Backend, check: Check) -> Iterator[str]:
    """What one check says of a mutant: the names of the counters that it advances."""
    if check.kind != "golden":
        yield from verdicts_of_a_law(backend, check)
        return
    subject = subject_of(backend, check)
    try:
        comparison = checks.compared(subject, "golden")[0]
        off = comparison.load > 1
    except WrongReturn:  # another shape: told by its message, not by a signature
        yield from COUNTED
        return
    except REFUSALS:  # it cannot be made in this very case
        return
    yield "judged"
    known, errors = diagnosis.known_to(subject, comparison), diagnosis.errors_of(comparison)
    match = diagnosis.explain(errors, known, diagnosis.tolerated(comparison))
    if off or match:
        yield "killed"
    if off or diagnosis.explain(errors, known.without(mistake), diagnosis.tolerated(comparison)):
        yield "killed_without"
    if match and mistake in match.mistakes:
        yield "named"
    if known.resolves(mistake):
        yield "resolved"


def verdicts_of_a_law(backend: Backend, check: Check) -> Iterator[str]:
    law = next(law for law in LAWS if law.name == check.kind)
    if not law.has_meaning(backend.functions[0]):
        return
    status = checks.run_check(backend, check).status
    if status != "unsupported":
        yield "judged"
    if status in ("fail", "limit"):
        yield from ("killed", "killed_without")


def sights(variant: str, form: str, profiles: tuple[str, ...], chosen: tuple[str, ...] = ()) -> list[Sight]:
    """Every golden case on every mistake that golden cases must show. One of another shape shows it without units."""
    record, found = find_variant(variant), []
    results = diagnosis.results_of(record, form)
    cases = list(linattn_golden.cases(variant, "certified"))
    for profile in profiles:
        known = {c.id: diagnosis.signatures(c.id, form, PROFILES[profile], results) for c in cases}
        shown = {name for own in known.values() for name in own.ids} & set(chosen or [m.id for m in MISTAKES])
        for one in MISTAKES:
            if one.id in shown and profile in one.profiles and "golden" in one.seen_by:
                for case in cases:
                    units = norm(known[case.id], one.id, case.exact)
                    found.append(Sight(one.id, variant, form, profile, case.id.split("/")[1], units))
    return found


def norm(known: diagnosis.Signatures, mistake: str, exact: bool) -> float:
    """0 where a case shows nothing; in an exact case any difference is beyond every limit."""
    units = float(np.sqrt(known.powers[known.ids.index(mistake)].sum())) if mistake in known.ids else 0.0
    return math.inf if units >= diagnosis.HUGE or (exact and units) else units
