"""What a check works on: a function of a backend under a profile, a case, and the truth about it."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import linattn_golden
from linattn.record import Variant
from linattn.variants import variant as find_variant
from linattn_golden import Case, Data
from linattn_spec import drawn, relative, verdict
from linattn_spec.backend import Backend, Unsupported
from linattn_spec.exchange import Exchange, Results
from linattn_spec.profiles import Profile
from linattn_spec.results import Check
from linattn_spec.verdict import LEAST, Truth


@dataclass(frozen=True)
class Subject:
    """A function, a profile and a case."""

    exchange: Exchange
    case: Case
    data: Data

    @property
    def variant(self) -> Variant:
        return self.exchange.variant

    @property
    def state(self) -> tuple | None:
        return None if self.exchange.function.form == "bidirectional" else self.data.initial_state

    @property
    def truth(self) -> Truth:
        return truth_of(self.case.id, self.exchange.profile, self.exchange.function.form)

    def run(self) -> Results:
        return self.exchange(self.data.inputs, self.state)


def subject_of(backend: Backend, check: Check) -> Subject:
    """Raises ``Unsupported`` where the function does not take the case or promises no such profile."""
    function = backend.function(check.variant, check.column)
    profile = next((p for p in function.profiles if p.name == check.profile), None)
    if profile is None:
        raise Unsupported(f"promises no profile {check.profile}")
    case = case_of(check.case)
    function.check_accepts(case.dims)
    return Subject(Exchange(backend, function, profile), case, linattn_golden.load(case))


def case_of(case_id: str) -> Case:
    """The golden or drawn case of that id. Raises ``ValueError`` where there is none."""
    name, _, scenario = case_id.partition("/")
    return drawn.case(find_variant(name), scenario) if drawn.is_drawn(scenario) else linattn_golden.case(case_id)


@lru_cache(maxsize=1024)
def truth_of(case_id: str, profile: Profile, form: str) -> Truth:
    """Golden values where they are stored, and units."""
    case = case_of(case_id)
    searched = drawn.is_drawn(case_id.split("/")[1])
    if case.kind == "recipe" and profile.bits == 53 and not searched:
        raise Unsupported("the results of a recipe are float64 themselves")
    data = linattn_golden.load(case)
    state = None if form == "bidirectional" else data.initial_state
    computed = verdict.truth(find_variant(case.variant), profile, form, data.inputs, state)
    if case.kind == "recipe":
        if profile.bits < 53:
            return computed
        return Truth(meant(case, drawn.enclosed(find_variant(case.variant), data, form)), computed.units)
    units = {n: np.full_like(x, LEAST) for n, x in computed.units.items()} if case.exact else computed.units
    return Truth({**computed.values, **golden_values(case, data, form)}, units)


def golden_values(case: Case, data: Data, form: str) -> dict[str, Any]:
    if form == "bidirectional":
        return {"output": data.bidirectional}
    names = linattn_golden.state_names(case)
    states = {f"final_state/{n}": x for n, x in zip(names, data.final_state or (), strict=True)}
    return meant(case, {"output": data.output} | states)


def meant(case: Case, results: dict[str, Any]) -> dict[str, Any]:
    """As all that is compared: states by what they stand for."""
    return relative.absolute(find_variant(case.variant), results)
