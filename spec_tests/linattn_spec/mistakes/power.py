"""The power of the suite: every mistake as a mutant against every golden case, in one variant and form at a time."""

import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import linattn_golden
from linattn.variants import variant as find_variant
from linattn_spec import checks, diagnosis
from linattn_spec.backend import Backend
from linattn_spec.exchange import WrongReturn
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.mutant import mutant
from linattn_spec.results import Check
from linattn_spec.subject import subject_of


@dataclass(frozen=True)
class Trial:
    """A mutant of one variant, form and profile: on how many cases it was judged, and how many saw it."""

    mistake: str
    variant: str
    form: str
    profile: str
    judged: int
    killed: int
    killed_without: int  # with the mistake left out of the filter
    named: int  # the mistake is among those that its case cannot tell apart
    resolved: int  # cases in which its signature stands out of rounding

    @property
    def is_named(self) -> bool:
        """By most of the cases that reject it."""
        return 2 * self.named >= self.killed > 0


def trials(variant: str, form: str, profiles: tuple[str, ...], chosen: tuple[str, ...] = ()) -> list[Trial]:
    """All mistakes that apply, or the chosen ones. The signatures of a case are computed once for all mutants."""
    record = find_variant(variant)
    backends = {
        m.id: mutant(m, profiles=tuple(p for p in profiles if p in m.profiles), only=((record, form),))
        for m in MISTAKES
        if m.applies(record, form) and m.id in (chosen or [m.id])
    }
    seen: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # mutants overflow, and are meant to
        for profile in profiles:
            for case in linattn_golden.cases(variant, "certified"):
                check = Check(variant, case.id.split("/")[1], form, profile, "golden")
                for mistake, backend in backends.items():
                    if backend.functions[0].promises(profile):
                        seen[mistake, profile].update(["judged", *verdicts(mistake, backend, check)])
    return [
        Trial(mistake, variant, form, profile, **{name: counts[name] for name in COUNTED})
        for (mistake, profile), counts in seen.items()
    ]


COUNTED = ("judged", "killed", "killed_without", "named", "resolved")


def verdicts(mistake: str, backend: Backend, check: Check) -> Iterator[str]:
    """What one case says of a mutant: the names of the counters that it advances."""
    subject = subject_of(backend, check)
    try:
        comparison = next(iter(checks.golden(subject)))
        off = comparison.load > 1
    except WrongReturn:  # another shape: told by its message, not by a signature
        yield from COUNTED[1:]
        return
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
