"""Known failures: what an implementation is known to get wrong, in one TOML file, so that anything new stands out.

``backends/known_failures.toml`` shows what an entry looks like. A failing check that matches one is reported as known.
The file is strict: from the version on that was seen, an entry must name checks that exist, one of them must still
fail, and it must not have expired. What the run had no part of is not judged.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from linattn_spec.backend import Backend
from linattn_spec.loading import BUILT_IN
from linattn_spec.plan import Selection, plan
from linattn_spec.results import Check, Result

FILE = "known_failures.toml"
OURS = Path(__file__).parent / "backends" / FILE
FAILING = ("fail", "error")


@dataclass(frozen=True)
class Failure:
    """One entry. The parts of ``check`` may be patterns."""

    where: str  # the file and the place in it
    check: Check
    backend: str
    seen: str
    reason: str
    link: str
    expires: date | None = None

    def matches(self, check: Check) -> bool:
        return all(fnmatchcase(getattr(check, part.name), getattr(self.check, part.name)) for part in fields(Check))

    def admitted(self, selection: Selection) -> bool:
        """Whether a run of this selection could have its checks."""
        names = ((selection.variants, self.check.variant), (selection.profiles, self.check.profile))
        form = self.check.column.partition(".")[0]
        return all(not chosen or any(fnmatchcase(name, pattern) for name in chosen) for chosen, pattern in names) and (
            not selection.forms
            or any(fnmatchcase(name, self.check.column) or fnmatchcase(name, form) for name in selection.forms)
        )


@dataclass(frozen=True)
class Known:
    """The known failures of a backend, on a day."""

    name: str  # as given to ``linattn check``
    backend: Backend
    failures: tuple[Failure, ...]
    today: date

    def apply(self, result: Result) -> Result:
        """The result, known if it fails and an entry says so."""
        for failure in self.failures:
            if result.status in FAILING and failure.matches(result.check) and not self.expired(failure):
                return replace(result, status="known", reason=f"{failure.reason}, {failure.link};\n{result.reason}")
        return result

    def complaints(self, results: Iterable[Result], selection: Selection) -> tuple[str, ...]:
        """What must be mended in the file, as far as the results of a run tell."""
        found = {result.check: result.status for result in results if result.status != "not run"}
        said = ((failure.where, self.complaint(failure, found, selection)) for failure in self.failures)
        return tuple(f"{where}: {complaint}" for where, complaint in said if complaint)

    def complaint(self, failure: Failure, found: dict[Check, str], selection: Selection) -> str:
        checks = {check for check in (*self.everything, *found) if failure.matches(check)}
        ran = [found[check] for check in checks if check in found]
        if older(self.backend.version, failure.seen):
            return ""
        if self.expired(failure) and ran:
            return f"expired on {failure.expires}; see whether {failure.link} is solved, and remove it or date it anew"
        if not checks and failure.admitted(selection):
            return f"no check of {self.name} matches {failure.check.id}; correct the pattern, or remove the entry"
        if checks and len(ran) == len(checks) and not {*FAILING, "known"} & set(ran):
            version = f" {self.backend.version}" if self.backend.version else ""
            return f"nothing that matches {failure.check.id} fails with {self.name}{version}; remove the entry"
        return ""

    def expired(self, failure: Failure) -> bool:
        """An entry stays true of the versions before it."""
        over = failure.expires is not None and failure.expires < self.today
        return over and not older(self.backend.version, failure.seen)

    @cached_property
    def everything(self) -> list[Check]:
        return plan(self.backend, Selection(level="full"))


def known(name: str, backend: Backend, path: Path | None = None, today: date | None = None) -> Known:
    """The known failures of a backend, from the file or from the one where they are looked for."""
    path = path or default(name)
    called = {Path(name).name if name.endswith(".py") else name, backend.name}
    own = tuple(failure for failure in (read(path) if path else ()) if failure.backend in called)
    return Known(name, backend, own, today or date.today())


def default(name: str) -> Path | None:
    """Beside a backend that is a file; ours for the built-in ones."""
    path = OURS if name in BUILT_IN else Path(name).with_name(FILE) if name.endswith(".py") else None
    return path if path and path.is_file() else None


def read(path: Path) -> tuple[Failure, ...]:
    """All entries of a file. Raises ``ValueError`` that names the entry and the field which is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise ValueError(f"{path}: must be TOML: {wrong}") from None
    entries = content.pop("failure", [])
    if content or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"{path}: must hold [[failure]] and nothing else; got {list(content) or entries}")
    return tuple(parsed(f"{path}, failure {number}", entry) for number, entry in enumerate(entries, start=1))


def parsed(where: str, entry: dict[str, Any]) -> Failure:
    try:
        names = [field.name for field in fields(Failure) if field.name != "where"]
        unknown, missing = set(entry) - set(names), set(names) - {"expires"} - set(entry)
        if unknown or missing:
            wrong = f"has no field {min(unknown)}" if unknown else f"must have the field {min(missing)}"
            raise ValueError(f"{wrong}; the fields are {', '.join(names)}")
        for name, value in entry.items():
            refuse_wrong(name, value)
        return Failure(where, **{**entry, "check": Check.parse(entry["check"])})
    except ValueError as wrong:
        raise ValueError(f"{where}: {wrong}") from None


def refuse_wrong(name: str, value: Any) -> None:
    """A field must be what it says."""
    if name == "expires":
        if not isinstance(value, date) or isinstance(value, datetime):
            raise ValueError(f"expires must be a date such as 2030-01-31, without quotes; got {value!r}")
    elif not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text; got {value!r}")
    elif name == "link" and not value.startswith("https://"):
        raise ValueError(f"link must begin with https://; got {value!r}")
    elif name == "seen" and comparable(value) is None:
        raise ValueError(f"seen must be a version such as 1.32.0; got {value!r}")


def older(version: str, seen: str) -> bool:
    """What is no version, a commit or none at all, is what its author works on today: not older."""
    one, other = comparable(version), comparable(seen)
    return one is not None and other is not None and one < other


def comparable(version: str) -> Version | None:
    try:
        return Version(version)
    except InvalidVersion:
        return None
