"""The report on a terminal: the matrix, the failures, and one line that sums up."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.box import SIMPLE
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from linattn_spec.results import STATUSES, Result, Run
from linattn_tools.report.matrix import Cell, Column, Failures, Matrix, failures, matrix, percent, reproduce

SHOWN = 10  # groups of failures
COLOURS = {
    "pass": "green",
    "fail": "red",
    "error": "magenta",
    "limit": "yellow",
    "known": "yellow",
    "not run": "yellow",
}
VERDICTS = {0: "green", 1: "red", 2: "yellow"}  # by exit code
MARKS, PLAIN_MARKS = "✓✗", "+x"  # the second where a terminal has no Unicode


def print_matrix(run: Run, console: Console) -> None:
    """Everything that a person at a terminal wants to know of a finished run."""
    whole = matrix(run)
    marks = PLAIN_MARKS if console.options.ascii_only else MARKS
    for part in tables(whole, marks, console):
        console.print(part)
    console.print(
        f"{marks[0]} passed, {marks[1]} failed / judged; the worst error in % of the limit\n", highlight=False
    )
    groups = failures(whole)
    for group in groups[:SHOWN]:
        print_failures(run, group, console)
    if len(groups) > SHOWN:
        console.print(f"... and {counted(groups[SHOWN:])}\n", highlight=False)
    for complaint in run.complaints:
        console.print(Text(f"KNOWN FAILURES {complaint}\n", "red"), soft_wrap=True)
    console.print(Text(summary(run), VERDICTS[run.exit_code]), soft_wrap=True)


def tables(whole: Matrix, marks: str, console: Console) -> Iterator[Table]:
    """As many as it takes for each to fit the width, cells unbroken."""
    unbounded, chosen = console.options.update(max_width=10**6), list[Column]()
    for column in whole.columns:
        wider = table(whole, [*chosen, column], marks)
        if chosen and Measurement.get(console, unbounded, wider).maximum > console.width:
            yield table(whole, chosen, marks)
            chosen = []
        chosen.append(column)
    yield table(whole, chosen, marks)


def table(whole: Matrix, columns: Sequence[Column], marks: str) -> Table:
    """Of those variants that have results in these columns."""
    shown = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    shown.add_column("variant", overflow="fold", width=20)
    for _, (first, *others) in groupby(columns, key=lambda column: column.name):
        shown.add_column("\n".join((*first.title.split(), first.profile)), no_wrap=True)
        for column in others:
            shown.add_column(column.profile, no_wrap=True)
    for row in whole.rows:
        cells = [row.cells[whole.columns.index(column)] for column in columns]
        if any(cell.results for cell in cells):
            shown.add_row(row.variant.title, *(cell_text(cell, marks) for cell in cells))
    return shown


def cell_text(cell: Cell, marks: str) -> Text:
    """A count, and the headroom under it."""
    text = Text(headline(cell, marks), COLOURS.get(cell.status, "dim"))
    return text if cell.load is None else text.append(f"\n{percent(cell.load)}", "dim")


def headline(cell: Cell, marks: str) -> str:
    failed = cell.counts["fail"] + cell.counts["error"]
    if failed:
        return f"{marks[1]} {failed}/{cell.judged}"
    if cell.status in ("limit", "known", "not run"):
        return f"{cell.judged}\n({cell.counts[cell.status]} {cell.status})"
    return f"{marks[0]} {cell.judged}" if cell.judged else cell.status or "-"


def print_failures(run: Run, group: Failures, console: Console) -> None:
    """What fails, why, and how to see it again; the command stays on one line, to be copied."""
    title = f"{group.status.upper()} {group.title}: {group.size}"
    first = group.results[0]
    console.print(Text(title, f"bold {COLOURS[group.status]}"))
    console.print(Padding.indent(Text(one_line(first.reason)), 2))
    console.print(Text(f"  {reproduce(run, first)}\n", "cyan"), soft_wrap=True)


def counted(groups: list[Failures]) -> str:
    """How many checks of each status the groups hold."""
    counts = Counter(group.status for group in groups for _ in group.results)
    return ", ".join(f"{count} more of status {status}" for status, count in counts.items())


def summary(run: Run) -> str:
    words = {"pass": "passed", "fail": "failed"}
    counts = ", ".join(f"{run.counts[status]} {words.get(status, status)}" for status in STATUSES)
    return f"{counts}; {sum(result.seconds for result in run.results):.1f} s of checks"


def place_line(results: list[Result]) -> str:
    """All results of a function and profile on one line."""
    check, cell = results[0].check, Cell(tuple(results))
    aside = (f", {cell.counts[name]} {name}" for name in ("limit", "known", "not run") if cell.counts[name])
    judged = f"{cell.counts['pass']} of {cell.judged} passed"
    return f"{check.variant} {check.column} {check.profile}: {judged}{''.join(aside)}"


def status_line(result: Result) -> str:
    """A result on one line, as it comes."""
    return one_line(f"{result.status.upper()} {result.check.id} {result.reason}")


def one_line(text: str) -> str:
    return " ".join(text.split())
