"""A run as it goes: what the log has of it, what workers return, and what the terminal hears of it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from linattn_spec.known import FAILING, Known
from linattn_spec.plan import place
from linattn_spec.results import Check, Result, append, read_log
from linattn_tools.report.terminal import place_line, status_line

ANNOUNCED = 3  # failures of a function and profile that are shown as they come; the reports have all of them


def log_of(backend: str) -> Path:
    return Path(".linattn") / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', backend)}.jsonl"


def earlier(log: Path, environment: dict[str, Any]) -> dict[Check, Result]:
    """The last result of every check in the log."""
    return {result.check: result for result in read_log(log, environment)}


def failed(checks: list[Check], log: Path, environment: dict[str, Any], known: Known) -> list[Check]:
    """The checks that failed last. What fails as is known does not count. Raises ``ValueError`` if there are none."""
    if not log.exists():
        raise ValueError(f"there is no earlier run of {environment['backend']}: {log} does not exist")
    results, places = earlier(log, environment), set(map(place, checks))
    drawn = [check for check in results if check.kind == "live" and place(check) in places]  # maybe with another seed
    wrong = {check for check, result in results.items() if known.apply(result).status in FAILING}
    chosen = [check for check in dict.fromkeys([*checks, *drawn]) if check in wrong]
    if not chosen:
        raise ValueError(f"nothing of what is selected failed in the earlier run ({log})")
    return chosen


def collect(
    checks: list[Check], kept: dict[Check, Result], run: Callable[[list[Check]], Iterator[Result]], log: Path
) -> Iterator[Result]:
    """The results of the planned checks, in their order: kept ones, or from workers and into the log."""
    kept = {check: result for check, result in kept.items() if result.status not in ("error", "not run")}
    fresh = run([check for check in checks if check not in kept])
    for check in checks:
        result = kept.get(check) or next(fresh)
        if check not in kept and result.status != "not run":
            append(log, result)
        yield result


def announced(found: Iterator[Result], checks: list[Check]) -> Iterator[Result]:
    """The results, while one line for every function and profile says how it went."""
    planned = Counter(map(place, checks))
    results: dict[Any, list[Result]] = {there: [] for there in planned}
    for result in found:
        here = results[place(result.check)]
        here.append(result)
        if result.status in FAILING and sum(r.status in FAILING for r in here) <= ANNOUNCED:
            print(status_line(result), flush=True)
        yield result
        if len(here) == planned[place(result.check)]:
            print(place_line(here), flush=True)


def until_interrupted(found: Iterator[Result], checks: list[Check]) -> list[Result]:
    """All results; after Ctrl-C those that are there, and the rest as not run."""
    results = []
    try:
        for result in found:
            results.append(result)
    except KeyboardInterrupt:
        results += [Result(check, "not run", "interrupted") for check in checks[len(results) :]]
    return results
