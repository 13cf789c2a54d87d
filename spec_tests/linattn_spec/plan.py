"""Which checks a run consists of: all golden cases for every function and profile, and laws on cases that suit them."""

from collections.abc import Iterator
from dataclasses import dataclass

import linattn_golden
from linattn_spec.backend import Backend, Function
from linattn_spec.laws import LAWS
from linattn_spec.results import Check


@dataclass(frozen=True)
class Selection:
    """What of a backend is to be checked; empty: everything."""

    variants: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()

    def takes(self, function: Function, profile: str) -> bool:
        return (
            (not self.variants or function.variant in self.variants)
            and (not self.forms or function.form in self.forms or function.column in self.forms)
            and (not self.profiles or profile in self.profiles)
        )


def plan(backend: Backend, selection: Selection | None = None) -> list[Check]:
    """All checks, function by function and profile by profile, so that verdicts come one after the other."""
    selection = selection or Selection()
    return [
        check
        for function in backend.functions
        for profile in function.profiles
        if selection.takes(function, profile.name)
        for check in checks_of(function, profile.name)
    ]


def checks_of(function: Function, profile: str) -> Iterator[Check]:
    scenarios = [case.id.split("/")[1] for case in linattn_golden.cases(function.variant)]
    for scenario in scenarios:
        yield Check(function.variant, scenario, function.column, profile, "golden")
    for law in LAWS:
        if law.has_meaning(function):
            yield from (
                Check(function.variant, s, function.column, profile, law.name) for s in law.scenarios if s in scenarios
            )
