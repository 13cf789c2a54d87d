"""The checks: a backend's function against the golden values, and the laws."""

import time
from collections.abc import Callable, Iterator
from functools import partial

from linattn_spec import diagnosis, gradient_diagnosis, relative
from linattn_spec.backend import Backend, Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import WrongReturn
from linattn_spec.laws import LAWS, gradients
from linattn_spec.laws.properties import PROPERTIES, measured
from linattn_spec.results import Check, Result
from linattn_spec.subject import Subject, subject_of
from linattn_spec.ways import strongest_gate


def golden(subject: Subject) -> Iterator[Comparison]:
    """Outputs and final states are the proven values."""
    yield Comparison(subject.run(), subject.truth.values, subject.truth.units)


CHECKS: dict[str, Callable[[Subject], Iterator[Comparison]]] = {
    "golden": golden,
    **{law.name: law.compare for law in LAWS},
}


def compared(subject: Subject, kind: str) -> list[Comparison]:
    """All comparisons of a check, of states by what they stand for. Bits are compared as they are."""
    comparisons = list(CHECKS[kind](subject))
    if kind in (law.name for law in PROPERTIES):
        return comparisons
    meant = partial(relative.absolute, subject.variant)
    return [one.of(meant).turned(subject.variant) for one in comparisons]


def run_check(backend: Backend, check: Check) -> Result:
    """Run one check in this process. Whatever the adapter raises, ``SystemExit`` too, becomes a result."""
    start = time.perf_counter()
    try:
        status, reason, load = judge(backend, check)
    except Unsupported as no:
        status, reason, load = "unsupported", str(no), None
    except WrongReturn as wrong:
        status, reason, load = "fail", str(wrong), None
    except (Exception, SystemExit) as failure:
        status, reason, load = "error", f"{type(failure).__name__}: {failure}", None
    return Result(check, status, reason, load, round(time.perf_counter() - start, 4))


def judge(backend: Backend, check: Check) -> tuple[str, str, float | None]:
    """Status, reason and load of the worst comparison of a check."""
    if check.kind == "live":
        from linattn_spec import live  # it runs checks itself

        return live.judge(backend, check)
    subject = subject_of(backend, check)
    comparisons = compared(subject, check.kind)
    if not comparisons:
        return "pass", "refused", None
    if check.kind in (law.name for law in PROPERTIES):
        same, reason = measured(comparisons)
        claimed = check.kind in backend.claims
        return ("pass" if same else "fail") if claimed else "noted", reason, None
    worst = max(comparisons, key=lambda comparison: comparison.load)
    match = looks_like(check.kind, subject, worst)
    if worst.load <= 1 and match is None:
        return "pass", f"{worst.undetermined} values undetermined" if worst.undetermined else "", worst.load
    beyond = strongest_gate(subject.variant, subject.data.inputs) < backend.log_decay_range
    reason = worst.reason if worst.load > 1 else "within the limits, but no rounding"
    return "limit" if beyond else "fail", reason + (f"; {match}" if match else ""), worst.load


def looks_like(kind: str, subject: Subject, comparison: Comparison) -> diagnosis.Match | None:
    if kind in gradients.LOSSES:
        return gradient_diagnosis.of(subject, comparison, gradients.LOSSES[kind])
    return diagnosis.of(subject, comparison) if kind == "golden" else None
