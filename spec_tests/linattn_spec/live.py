"""Live checks: Hypothesis draws cases within what a function accepts, and what fails is made as small as it can be.

The scenario of a live check says which cases: ``live(seed=0,examples=50)``. Every case of it is a golden check of a
drawn case, which has an id of its own and can be run again by itself.
"""

import os
import re
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from linattn.variants import variant as find_variant
from linattn_spec import running
from linattn_spec.backend import Backend, Function, Unsupported
from linattn_spec.checks import run_check
from linattn_spec.frameworks import typed
from linattn_spec.results import Check, Result, worst
from linattn_spec.subject import Subject, subject_of
from linattn_spec.ways import strongest_gate

EXAMPLES = 50
SECONDS = 60.0  # half of what a worker has: then nothing new is drawn, nor made smaller
PATIENCE = 5  # refused cases for one that is to be judged


def scenario(seed: int = 0, examples: int = EXAMPLES) -> str:
    return f"live(seed={seed},examples={examples})"


def parse(text: str) -> tuple[int, int]:
    """Seed and number of examples. Raises ``ValueError`` where the text says neither."""
    found = re.fullmatch(r"live\(seed=(\d+),examples=(\d+)\)", text)
    if not found:
        raise ValueError(f"the scenario of a live check must read {scenario()}; got {text!r}")
    return int(found[1]), int(found[2])


def smallest(result: Result) -> Check | None:
    """The check of the smallest wrong case, or of the one that ended the process, from the reason of a live check."""
    named = re.search(r"\S+/drawn\(\S+:golden", result.reason) if result.check.kind == "live" else None
    return Check.parse(named[0]) if named else None


@dataclass(frozen=True)
class Found:
    """What became of every case that was drawn, and the smallest one that is wrong, if any is."""

    results: tuple[Result, ...]
    smallest: Result | None

    @property
    def judged(self) -> list[Result]:
        return [result for result in self.results if result.status != "unsupported"]

    @property
    def verdict(self) -> tuple[str, str, float | None]:
        """Status, reason and load of the live check."""
        if self.smallest:
            return self.smallest.status, f"{self.smallest.check.id}: {self.smallest.reason}", self.smallest.load
        if not self.judged:
            raise Unsupported(f"none of {len(self.results)} drawn cases could be judged; {self.usual_refusal}")
        refused = len(self.results) - len(self.judged)
        few = f", {refused} refused; {self.usual_refusal}" if refused > len(self.judged) else ""
        return "pass", f"{len(self.judged)} drawn cases judged{few}", worst(self.judged)

    @property
    def usual_refusal(self) -> str:
        reasons = Counter(result.reason for result in self.results if result.status == "unsupported")
        return reasons.most_common(1)[0][0] if reasons else "time was up"


def judge(backend: Backend, check: Check) -> tuple[str, str, float | None]:
    """Status, reason and load of a live check, for ``run_check``."""
    return search(backend, check).verdict


def search(backend: Backend, check: Check, seconds: float = SECONDS) -> Found:
    """Draw cases, judge them, and shrink what is wrong. Raises ``Unsupported`` where the function promises no such
    profile.
    """
    from hypothesis import Phase, find, reject, settings
    from hypothesis.errors import NoSuchExample, Unsatisfiable

    seed, examples = parse(check.scenario)
    results: dict[str, Result] = {}
    end = time.monotonic() + seconds

    def is_wrong(example: Any) -> bool:
        text = str(example)
        if text not in results:  # a case is judged once, also where the implementation answers differently each time
            refused = sum(result.status == "unsupported" for result in results.values())
            if time.monotonic() > end or refused > PATIENCE * examples:
                return False
            results[text] = judge_case(backend, check, text)
        if results[text].status == "unsupported":
            reject()
        return results[text].status in ("fail", "error")

    random = Random(f"{check.variant} {check.column} {check.profile} {seed}")  # each function has cases of its own
    drawn = cases(backend.function(check.variant, check.column))
    phases = (Phase.generate, Phase.shrink)
    options = settings(max_examples=2, database=None, deadline=None, derandomize=False, phases=phases)
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(Path(".linattn") / "hypothesis"))
    smallest = None
    try:
        for _ in range(examples):  # each the plainest case and one more: Hypothesis would rather vary those it has seen
            with suppress(NoSuchExample, Unsatisfiable):
                smallest = results[str(find(drawn, is_wrong, settings=options, random=random))]
                break
    finally:
        running.forget(check)
    return Found(tuple(results.values()), smallest)


def cases(function: Function) -> Any:
    """All that a function can express: of what it does not take, only what has no effect."""
    from linattn_spec import strategies

    record = find_variant(function.variant)
    lacking = {*(item.name for item in record.inputs), "initial_state"} - set(function.parameters)
    return strategies.inputs(record, function.accepts, lacking)


def judge_case(backend: Backend, check: Check, case_id: str) -> Result:
    variant, text = case_id.split("/")
    own = Check(variant, text, check.column, check.profile, "golden")
    try:
        subject = subject_of(backend, own)
        subject.exchange.arguments(subject.data.inputs, subject.state)
        refuse_unfit(subject, backend.log_decay_range)
    except Unsupported as no:
        return Result(own, "unsupported", str(no))
    running.note(check, own.id)
    return run_check(backend, own)


def refuse_unfit(subject: Subject, log_decay_range: float) -> None:
    """Raises ``Unsupported`` where nothing may be asked: beyond the declared gates, or beyond the largest number."""
    if strongest_gate(subject.variant, subject.data.inputs) < log_decay_range:
        raise Unsupported(f"log decays reach below {log_decay_range:g}, which the backend does not promise")
    profile, truth = subject.exchange.profile, subject.truth
    for name, x in truth.values.items():
        dtype = profile.array if name == "output" else profile.state
        if not np.isfinite(typed(np.where(np.isinf(truth.units[name]), 0, x), dtype).values).all():
            raise Unsupported(f"{name} of this case is beyond the largest {dtype}")
    if all(np.isinf(x).all() for x in truth.units.values()):
        raise Unsupported("no value is determined: denominators near 0")
