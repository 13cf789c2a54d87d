"""Which checks a run consists of: all golden cases for every function and profile, and laws on cases that suit them."""

from collections.abc import Iterator
from dataclasses import dataclass

import linattn_golden
from linattn.variants import variant
from linattn_spec.backend import Backend, Function
from linattn_spec.results import Check

LAWS = {  # law: the scenarios on which it is tried; recipes serve functions that accept kernel sizes alone
    "split": ("odd-dims", "long", "grouped-query", "grouped-value", "recipe-64"),
    "prefix": ("odd-dims", "long", "recipe-64"),
    "batch": ("odd-dims", "grouped-query"),
    "heads": ("odd-dims", "grouped-query", "grouped-value", "recipe-64"),
    "untouched": ("odd-dims", "recipe-64"),
    "reversal": ("odd-dims", "grouped-query", "recipe-64"),
    "doubling": ("odd-dims", "long", "recipe-64"),
    "neutral": ("odd-dims", "long", "recipe-64"),
    "empty": ("odd-dims",),
}
CAUSAL = ("split", "prefix", "neutral")  # these say nothing where every token sees every token


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
    for law, where in LAWS.items():
        if not has_meaning(law, function):
            continue
        yield from (Check(function.variant, s, function.column, profile, law) for s in where if s in scenarios)


def has_meaning(law: str, function: Function) -> bool:
    """No token is neutral where a cache counts every one, or where the decay is the same for all."""
    record = variant(function.variant)
    if function.form == "bidirectional" and law in CAUSAL:
        return False
    grows = any("P" in item.axes.split() for item in record.state)
    constant = any(item.name == "log_decay" and item.time is None for item in record.inputs)
    return not (law == "neutral" and (grows or constant))
