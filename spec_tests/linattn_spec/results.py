"""Results: one record per check, never mixed up, written as JSON lines as they come."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

STATUSES = {
    "pass": "within the limits",
    "fail": "wrong",
    "limit": "wrong, beyond the range that the backend declares",
    "error": "no result: an exception, a crash or a time-out",
    "known": "wrong or no result, as the file of known failures says",
    "noted": "a property: measured, and judged only where it is claimed",
    "unsupported": "outside of what the backend offers",
    "not run": "planned, and not reached",
}


@dataclass(frozen=True)
class Check:
    """One planned check; the id is all that a worker or a user needs to run it again."""

    variant: str
    scenario: str
    column: str  # the form, and the label where a backend has several functions of one form
    profile: str
    kind: str  # "golden" or the name of a law

    @property
    def id(self) -> str:
        return f"{self.variant}/{self.scenario}:{self.column}:{self.profile}:{self.kind}"

    @property
    def case(self) -> str:
        return f"{self.variant}/{self.scenario}"

    @classmethod
    def parse(cls, check_id: str) -> "Check":
        """The check of an id. Raises ``ValueError`` where it is none."""
        parts = check_id.split(":")
        if len(parts) != 4 or parts[0].count("/") != 1:
            raise ValueError(f"check id must be VARIANT/SCENARIO:FORM:PROFILE:CHECK; got {check_id!r}")
        return cls(*parts[0].split("/"), *parts[1:])


@dataclass(frozen=True)
class Result:
    """What became of a check. ``load`` is the share of the closest limit that the errors use up."""

    check: Check
    status: str
    reason: str = ""
    load: float | None = None
    seconds: float = 0.0

    def to_json(self) -> str:
        entry = {"id": self.check.id, **{k: v for k, v in asdict(self).items() if k != "check"}}
        if entry["load"] == float("inf"):
            entry["load"] = None
        return json.dumps(entry)

    @classmethod
    def from_json(cls, line: str) -> "Result":
        entry = json.loads(line)
        return cls(Check.parse(entry.pop("id")), **entry)


@dataclass(frozen=True)
class Run:
    """All results of a run, where it ran, and what must be mended in its file of known failures."""

    environment: dict[str, Any]
    results: tuple[Result, ...]
    complaints: tuple[str, ...] = ()

    @property
    def counts(self) -> Counter:
        return Counter(result.status for result in self.results)

    @property
    def exit_code(self) -> int:
        """0: everything planned ran and passed, fails as is known, or lies outside what is offered; 1: not, or what is
        known is wrong; 2: nothing could be judged.
        """
        if not any(result.status in ("pass", "fail", "limit", "error", "known") for result in self.results):
            return 2
        return int(bool(self.complaints) or any(r.status in ("fail", "error", "not run") for r in self.results))


def append(path: Path, result: Result) -> None:
    """One line more. It brings its own line break: a line that a crash cut short spoils no other."""
    with path.open("a") as log:
        log.write("\n" + result.to_json())


def start_log(path: Path, environment: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(environment))


def read_log(path: Path, environment: dict[str, Any]) -> list[Result]:
    """The results of an earlier run. Raises ``ValueError`` where it was another backend, version or specification."""
    first, *lines = path.read_text().splitlines() or [""]
    try:
        earlier = json.loads(first)
    except ValueError:
        raise ValueError(f"{path} must begin with the record of a run; it begins with {first[:40]!r}") from None
    for name in ("backend", "version", "spec_version"):
        if earlier.get(name) != environment.get(name):
            raise ValueError(f"{path} has {name} {earlier.get(name)!r}; this run has {environment.get(name)!r}")
    return [result for line in lines if (result := parse_or_none(line))]


def parse_or_none(line: str) -> Result | None:
    """A line that a crash cut short is no result."""
    try:
        return Result.from_json(line)
    except (ValueError, TypeError, KeyError):
        return None


def worst(results: Iterable[Result]) -> float | None:
    """The largest load among the judged results."""
    loads = [result.load for result in results if result.load is not None]
    return max(loads, default=None)
