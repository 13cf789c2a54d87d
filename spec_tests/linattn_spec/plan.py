"""Which checks a run consists of: golden cases for every function and profile, and laws on cases that suit them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby, zip_longest
from operator import attrgetter

import linattn_golden
from linattn_golden import Case
from linattn_spec import live
from linattn_spec.backend import Backend, Function, Unsupported
from linattn_spec.laws import LAWS, Law
from linattn_spec.results import Check

LEVELS = {
    "smoke": "the two most telling golden cases",
    "core": "all golden cases and laws; of the large cases one",
    "full": "everything: all large cases, and the laws on many more",
}
# The golden cases by what each adds to the mistakes of the catalogue that those before it see, in all variants, forms
# and profiles. The first two that a variant has see 9 in 10 of its mistakes, all of them every one.
TELLING = (
    "grouped-query",
    "gates-reset",
    "eps",
    "large-scores",
    "beta-to-2",
    "square",
    "exact",
    "grouped-value",
    "long",
    "one-token",
    "state-float32",
    "gates-float32",
    "short-keys",
    "gates-slow",
)
SMOKE = 2
PLAIN = "plain"  # a case without a state and without numbers that are set
MORE = (  # where laws are tried at level full, beside their own scenarios
    "square",
    "gates-slow",
    "gates-strong",
    "gates-reset",
    "beta-to-2",
    "large-scores",
    "recipe-128",
)

place = attrgetter("variant", "column", "profile")  # of a check: the function and the profile that it judges


@dataclass(frozen=True)
class Selection:
    """What of a backend is to be checked; empty: everything of the level."""

    variants: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    level: str = "core"
    live: str = ""  # the scenario of live checks; empty: the usual one, at level full alone

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"level must be one of {', '.join(LEVELS)}; got {self.level!r}")

    def takes(self, function: Function, profile: str) -> bool:
        return (
            (not self.variants or function.variant in self.variants)
            and (not self.forms or function.form in self.forms or function.column in self.forms)
            and (not self.profiles or profile in self.profiles)
        )

    def reaches(self, level: str) -> bool:
        """Whether checks of that level belong to the run."""
        return list(LEVELS).index(level) <= list(LEVELS).index(self.level)


def plan(backend: Backend, selection: Selection | None = None) -> list[Check]:
    """All checks, function by function and profile by profile, so that verdicts come one after the other."""
    selection = selection or Selection()
    return [
        check
        for function in backend.functions
        for profile in function.profiles
        if selection.takes(function, profile.name)
        for check in checks_of(function, profile.name, selection)
    ]


def checks_of(function: Function, profile: str, selection: Selection) -> Iterator[Check]:
    cases = {case.id.split("/")[1]: case for case in linattn_golden.cases(function.variant)}
    planned = {"golden": golden_scenarios(function, cases, selection.level)}
    for law in LAWS:
        if law.has_meaning(function) and selection.reaches(law.level):
            planned[law.name] = law_scenarios(law, function, cases, selection.level)
    if selection.live or selection.reaches("full"):
        planned["live"] = [selection.live or live.scenario()]
    for kind, scenarios in planned.items():
        yield from (Check(function.variant, s, function.column, profile, kind) for s in scenarios)


def golden_scenarios(function: Function, cases: dict[str, Case], level: str) -> list[str]:
    if level == "smoke":
        return suited(function, cases, sorted(cases, key=rank))[:SMOKE]
    return [s for s, case in cases.items() if level == "full" or case.kind != "recipe" or s == large(function, cases)]


def law_scenarios(law: Law, function: Function, cases: dict[str, Case], level: str) -> list[str]:
    own = [s if law.bound else suiting(function, cases, s) for s in law.scenarios if s in cases]
    if level == "smoke":
        return suited(function, cases, own)[:1]
    if level == "full":
        return list(dict.fromkeys([*own, *(s for s in MORE if s in cases and not law.bound)]))
    return list(dict.fromkeys(large(function, cases) if cases[s].kind == "recipe" else s for s in own))


def suiting(function: Function, cases: dict[str, Case], scenario: str) -> str:
    """A law needs no values: a function that its case cannot be given, for want of a state, is tried on another one."""
    stands_in = PLAIN in cases and suits(function, cases[PLAIN]) and cases[scenario].kind != "recipe"
    return PLAIN if stands_in and not suits(function, cases[scenario]) else scenario


def large(function: Function, cases: dict[str, Case]) -> str:
    """The recipe that stands for all at level core: kernels may take but one size."""
    return suited(function, cases, [s for s, case in cases.items() if case.kind == "recipe"])[0]


def suited(function: Function, cases: dict[str, Case], scenarios: list[str]) -> list[str]:
    """Those that the function can be given, as far as its record says; all, where it can be given none."""
    return [s for s in scenarios if suits(function, cases[s])] or scenarios


def suits(function: Function, case: Case) -> bool:
    needed = set(case.numbers)
    if case.initial_state is not None and function.form != "bidirectional":
        needed.add("initial_state")
    try:
        function.check_accepts(case.dims)
    except Unsupported:
        return False
    except Exception:  # an ``accepts`` that cannot be evaluated is an error of the checks
        return True
    return needed <= set(function.parameters)


def rank(scenario: str) -> int:
    return TELLING.index(scenario) if scenario in TELLING else len(TELLING)


def most_telling_first(checks: list[Check]) -> list[Check]:
    """The same checks for a run that may end early: every function and profile in turn, its most telling ones first."""

    def order(check: Check) -> tuple[bool, int]:
        return check.kind != "golden", rank(check.scenario)

    blocks = [sorted(block, key=order) for _, block in groupby(checks, place)]
    return [check for check in chain.from_iterable(zip_longest(*blocks)) if check]
