"""The checks: a backend's function against the golden values, and laws that relate its own results to each other.

A law needs no oracle. It compares two runs of the same function; both may stray, so its limits are twice those of
the goldens.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

import linattn_golden
from linattn.record import Variant
from linattn.variants import variant as find_variant
from linattn_golden import Case, Data
from linattn_spec import frameworks, verdict, where
from linattn_spec.backend import Backend, Unsupported
from linattn_spec.exchange import Exchange, Results, WrongReturn, groups
from linattn_spec.profiles import BITS, Profile
from linattn_spec.results import Check, Result
from linattn_spec.verdict import Truth


@dataclass(frozen=True)
class Comparison:
    """Results against what they should be, in units; ``slack`` multiplies the units where both sides may stray."""

    got: Results
    want: Mapping[str, np.ndarray]
    units: Mapping[str, np.ndarray]
    slack: float = 1.0
    what: str = ""

    @property
    def errors(self) -> dict[str, np.ndarray]:
        return {name: self.error(name) for name in self.got}

    def error(self, name: str) -> np.ndarray:
        if self.got[name].shape != self.want[name].shape:
            raise WrongReturn(f"{name} must have shape {self.want[name].shape} (B, H, ...); got {self.got[name].shape}")
        with np.errstate(all="ignore"):
            errors = (self.got[name] - self.want[name]) / (self.slack * self.units[name])
        return np.where(np.isinf(self.units[name]), 0, errors)  # undetermined tokens are not judged


@dataclass(frozen=True)
class Bench:
    """A function, a profile and a case: what a check works on."""

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


def run_check(backend: Backend, check: Check) -> Result:
    """Run one check in this process. Exceptions of the adapter become results; nothing else is caught."""
    start = time.perf_counter()
    try:
        status, reason, load = judge(backend, check)
    except Unsupported as no:
        status, reason, load = "unsupported", str(no), None
    except WrongReturn as wrong:
        status, reason, load = "fail", str(wrong), None
    except Exception as failure:
        status, reason, load = "error", f"{type(failure).__name__}: {failure}", None
    return Result(check, status, reason, load, round(time.perf_counter() - start, 4))


def judge(backend: Backend, check: Check) -> tuple[str, str, float | None]:
    """Status, reason and load of the worst comparison of a check."""
    bench = bench_of(backend, check)
    worst: tuple[str, str, float | None] = ("pass", "", None)
    for comparison in CHECKS[check.kind](bench):
        measures = {name: verdict.measure(errors) for name, errors in comparison.errors.items()}
        load = max(m.load for m in measures.values())
        if worst[2] is None or load > worst[2]:
            worst = ("pass", "" if load <= 1 else explain(comparison, measures), load)
    if worst[1]:
        beyond = strongest_gate(bench.data) < backend.log_decay_range
        return ("limit" if beyond else "fail"), worst[1], worst[2]
    return worst


def bench_of(backend: Backend, check: Check) -> Bench:
    function = backend.function(check.variant, check.column)
    profile = next((p for p in function.profiles if p.name == check.profile), None)
    if profile is None:
        raise Unsupported(f"promises no profile {check.profile}")
    case = linattn_golden.case(check.case)
    function.check_accepts(case.dims)
    return Bench(Exchange(backend, function, profile), case, linattn_golden.load(case))


def explain(comparison: Comparison, measures: Mapping[str, verdict.Measure]) -> str:
    begins = where.describe(comparison.got, comparison.want, comparison.errors)
    return f"{comparison.what}{where.numbers(measures)}; {begins}"


def strongest_gate(data: Data) -> float:
    return float(np.min(data.inputs.get("log_decay", np.zeros(1))))


@lru_cache(maxsize=64)
def truth_of(case_id: str, profile: Profile, form: str) -> Truth:
    """Golden values where they are stored, and units."""
    case = linattn_golden.case(case_id)
    data = linattn_golden.load(case)
    state = None if form == "bidirectional" else data.initial_state
    computed = verdict.truth(find_variant(case.variant), profile, form, data.inputs, state)
    if case.kind == "recipe":
        if profile.bits == 53:
            raise Unsupported("the results of a recipe are float64 themselves")
        return computed
    return Truth({**computed.values, **golden_values(case, data, form)}, computed.units)


def golden_values(case: Case, data: Data, form: str) -> dict[str, Any]:
    if form == "bidirectional":
        return {"output": data.bidirectional}
    names = linattn_golden.state_names(case)
    return {"output": data.output} | {f"final_state/{n}": x for n, x in zip(names, data.final_state or (), strict=True)}


def golden(bench: Bench) -> Iterator[Comparison]:
    """Outputs and final states are the proven values."""
    yield Comparison(bench.run(), bench.truth.values, bench.truth.units)


def split(bench: Bench) -> Iterator[Comparison]:
    """Stopping anywhere and continuing from the returned state changes nothing."""
    if "initial_state" not in bench.exchange.function.parameters:
        raise Unsupported("takes no initial_state")
    if BITS[bench.exchange.profile.state] < bench.exchange.profile.bits:
        raise Unsupported("rounds the state at every hand-over")
    whole, tokens = bench.run(), bench.case.dims["T"]
    for cut in sorted({1, tokens // 2, tokens - 1}):
        first = bench.exchange(piece(bench, slice(0, cut)), bench.state)
        state = tuple(x for name, x in first.items() if name != "output")
        if not state:
            raise Unsupported("returns no final_state")
        second = bench.exchange(piece(bench, slice(cut, None)), state)
        joined = {**second, "output": np.concatenate([first["output"], second["output"]], axis=2)}
        yield Comparison(joined, whole, bench.truth.units, 2, f"split at {cut}: ")


def prefix(bench: Bench) -> Iterator[Comparison]:
    """No token sees a later one."""
    whole, cut = bench.run(), bench.case.dims["T"] // 2
    changed = changed_where(bench, lambda item, x: later(item.time, x, cut))
    output = bench.exchange(changed, bench.state)["output"][:, :, :cut]
    units = {"output": bench.truth.units["output"][:, :, :cut]}
    yield Comparison(
        {"output": output}, {"output": whole["output"][:, :, :cut]}, units, 2, f"tokens from {cut} on changed: "
    )


def batch(bench: Bench) -> Iterator[Comparison]:
    """No batch entry sees another one."""
    yield independent(bench, 0, 1, "the other batch entries changed: ")


def heads(bench: Bench) -> Iterator[Comparison]:
    """No group of heads sees another one."""
    yield independent(bench, 1, groups(bench.variant, bench.data.inputs), "the other heads changed: ")


def untouched(bench: Bench) -> Iterator[Comparison]:
    """A call leaves its arguments as they were, and a second call gives the same bits."""
    exchange, framework = bench.exchange, bench.exchange.backend.array
    arguments = exchange.arguments(bench.data.inputs, bench.state)
    flat = {name: x for name, x in arguments.items() if not isinstance(x, float | tuple | None)}
    before = {name: frameworks.from_array(framework, x).values.copy() for name, x in flat.items()}
    exchange.function.call(**arguments)
    for name, x in flat.items():
        if not np.array_equal(frameworks.from_array(framework, x).values, before[name]):
            raise WrongReturn(f"the call changed its argument {name}")
    yield Comparison(bench.run(), bench.run(), bench.truth.units, 2, "called again: ")


CHECKS: dict[str, Callable[[Bench], Iterator[Comparison]]] = {
    "golden": golden,
    "split": split,
    "prefix": prefix,
    "batch": batch,
    "heads": heads,
    "untouched": untouched,
}


def piece(bench: Bench, window: slice) -> dict[str, Any]:
    """A part of the sequence; numbers and parameters pass through."""
    times = {item.name: item.time for item in bench.variant.inputs}
    return {name: x[:, :, window] if times[name] is not None else x for name, x in bench.data.inputs.items()}


def changed_where(bench: Bench, change: Callable[[Any, Any], Any]) -> dict[str, Any]:
    times = {item.name: item for item in bench.variant.inputs}
    return {name: x if times[name].time is None else change(times[name], x) for name, x in bench.data.inputs.items()}


def other(x: np.ndarray) -> np.ndarray:
    """Other values of the same kind: time and channels reversed."""
    return x[:, :, ::-1, ::-1]


def later(time_axis: int, x: np.ndarray, cut: int) -> np.ndarray:
    return np.concatenate([x[:, :, :cut], other(x[:, :, cut:])], axis=2)


def independent(bench: Bench, axis: int, parts: int, what: str) -> Comparison:
    """The first of ``parts`` along an axis keeps its values, all others change; its results must not."""
    if axis == 0:
        parts = bench.case.dims["B"]
    if parts == 1:
        raise Unsupported("the case has but one")

    def change(x: np.ndarray) -> np.ndarray:
        own = x.shape[axis] // parts
        first, rest = np.split(x, [own], axis=axis)
        return np.concatenate([first, other(rest)], axis=axis)

    state = bench.state and tuple(x if x.ndim < 4 else change(x) for x in bench.state)
    results = bench.exchange(changed_where(bench, lambda _, x: change(x)), state)
    whole = bench.run()

    def mine(results: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {name: np.split(x, [x.shape[axis] // parts], axis=axis)[0] for name, x in results.items()}

    return Comparison(mine(results), mine(whole), mine({n: bench.truth.units[n] for n in whole}), 2, what)
