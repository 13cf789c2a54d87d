"""A run as a matrix of variants and columns: pure data, which the terminal and the page both show."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from linattn.record import FORMS, Variant
from linattn.variants import VARIANTS, known
from linattn_spec import live
from linattn_spec.results import Result, Run, worst

# What a cell shows: the first that it has.
SEVERITY = ("fail", "error", "not run", "limit", "known", "pass", "noted", "unsupported")
FAILING = ("fail", "error", "limit", "known")
JUDGED = ("pass", *FAILING)


@dataclass(frozen=True)
class Column:
    """One implementation of a form at one profile."""

    name: str  # as in ``Check``: the form, and the label where there are several of one form
    profile: str

    @property
    def form(self) -> str:
        return self.name.partition(".")[0]

    @property
    def label(self) -> str:
        return self.name.partition(".")[2]

    @property
    def title(self) -> str:
        return f"{self.form} ({self.label})" if self.label else self.form


@dataclass(frozen=True)
class Cell:
    """The results of a variant in a column; none where nothing was planned."""

    results: tuple[Result, ...]

    @property
    def counts(self) -> Counter[str]:
        return Counter(result.status for result in self.results)

    @property
    def judged(self) -> int:
        return sum(self.counts[status] for status in JUDGED)

    @property
    def failing(self) -> tuple[Result, ...]:
        return tuple(result for result in self.results if result.status in FAILING)

    @property
    def status(self) -> str:
        """The gravest status among the results; empty where there are none."""
        return next((status for status in SEVERITY if self.counts[status]), "")

    @property
    def load(self) -> float | None:
        """The worst load; infinite where a wrong result has none, as it is not finite or has the wrong shape."""
        if any(result.load is None for result in self.results if result.status in ("fail", "limit")):
            return math.inf
        return worst(self.results)

    @property
    def kinds(self) -> dict[str, "Cell"]:
        """The same results, by the kind of the check."""
        by_kind: dict[str, list[Result]] = {}
        for result in self.results:
            by_kind.setdefault(result.check.kind, []).append(result)
        return {kind: Cell(tuple(results)) for kind, results in by_kind.items()}


@dataclass(frozen=True)
class Row:
    """A variant and its cells, one for every column of the matrix."""

    variant: Variant
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Matrix:
    """The variants of a run against its columns, and those of which it has nothing."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    absent: tuple[str, ...] = ()

    @property
    def implementations(self) -> list[list[Column]]:
        """The columns of one implementation together: they differ in the profile."""
        return [list(columns) for _, columns in groupby(self.columns, key=attrgetter("name"))]

    @property
    def planned(self) -> Iterator[tuple[Variant, Column, Cell]]:
        """Every cell that has results, with the variant and the column that it stands for."""
        for row in self.rows:
            for column, cell in zip(self.columns, row.cells, strict=True):
                if cell.results:
                    yield row.variant, column, cell


@dataclass(frozen=True)
class Failures:
    """Failing results that belong together: of one status, and of cells that begin to fail for the same reason. The
    first stands for all.
    """

    status: str
    places: tuple[str, ...]
    results: tuple[Result, ...]

    @property
    def title(self) -> str:
        first, *others = self.places
        return f"{first} and {len(others)} more" if others else first

    @property
    def size(self) -> str:
        return "1 check" if len(self.results) == 1 else f"{len(self.results)} checks"


def matrix(run: Run) -> Matrix:
    """Rows in the order of the variants, columns in that of the forms and then of the run."""
    found: dict[tuple[str, Column], list[Result]] = {}
    for result in run.results:
        check = result.check
        found.setdefault((check.variant, Column(check.column, check.profile)), []).append(result)
    columns = in_order(tuple(dict.fromkeys(column for _, column in found)))
    present = {variant for variant, _ in found}
    return Matrix(
        columns,
        tuple(
            Row(v, tuple(Cell(tuple(found.get((v.name, c), ()))) for c in columns))
            for v in known()
            if v.name in present
        ),
        tuple(v.name for v in VARIANTS if v.name not in present),
    )


def in_order(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """By form, and the profiles of one implementation side by side."""
    names = list(dict.fromkeys(column.name for column in columns))
    return tuple(sorted(columns, key=lambda column: (FORMS.index(column.form), names.index(column.name))))


def failures(whole: Matrix) -> list[Failures]:
    """Everything that fails, the gravest status first."""
    return [group for status in FAILING for group in of_status(whole, status)]


def of_status(whole: Matrix, status: str) -> Iterator[Failures]:
    by_reason: dict[str, list[tuple[str, tuple[Result, ...]]]] = {}
    for variant, column, cell in whole.planned:
        results = tuple(result for result in cell.failing if result.status == status)
        if results:
            place = f"{variant.title}, {column.title}, {column.profile}"
            by_reason.setdefault(results[0].reason.partition("\n")[0], []).append((place, results))
    for group in by_reason.values():
        places = tuple(place for place, _ in group)
        yield Failures(status, places, tuple(result for _, results in group for result in results))


def unsupported(run: Run | Cell) -> list[tuple[str, int]]:
    """Why checks lie outside of what is offered, and how many; what follows a semicolon is particular to a case."""
    reasons = (r.reason.partition(";")[0] or "no reason given" for r in run.results if r.status == "unsupported")
    return Counter(reasons).most_common()


def reproduce(run: Run, result: Result) -> str:
    """The one command that runs a check again, of a live one its smallest wrong case."""
    check = live.smallest(result) or result.check
    own = [word for file in run.environment.get("variants", ()) for word in ("--variant", file)]
    return shlex.join(["linattn", "repro", check.id, "--backend", run.environment["backend"], *own])


def percent(load: float) -> str:
    """A load in percent of the limit, rounded away from 100 % so that it never seems to lie on the other side."""
    if load > 9.99:
        return "> 999 %"
    return f"{math.floor(100 * load) if load <= 1 else math.ceil(100 * load)} %"
