"""What a run could not judge, for every function and profile: what a pass does not say."""

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import linattn
import linattn_golden
from linattn_spec import diagnosis
from linattn_spec.mistakes import MISTAKES
from linattn_spec.plan import rank
from linattn_spec.profiles import PROFILES
from linattn_spec.results import Run
from linattn_tools.progress import track
from linattn_tools.report.matrix import Cell, Column, matrix, unsupported

COMPARED = ("pass", "fail", "limit", "known")
UNDETERMINED = re.compile(r"(\d+) values undetermined")


@dataclass(frozen=True)
class Unjudged:
    """``unsupported`` counts checks by reason, ``undetermined`` values at poles; ``unseen`` are the mistakes of the
    catalogue that no golden case of the run resolves, None for a profile of the backend's own.
    """

    variant: str
    column: str
    profile: str
    unsupported: dict[str, int]
    undetermined: int
    unseen: tuple[str, ...] | None

    @property
    def says_something(self) -> bool:
        return bool(self.unsupported or self.undetermined or self.unseen)


def unjudged(run: Run) -> list[Unjudged]:
    """One entry for every function and profile of a run, on all cores: each tries the whole catalogue of mistakes."""
    places = [(variant.name, column, cell) for variant, column, cell in matrix(run).planned]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(track(pool.map(of, *zip(*places, strict=True)), len(places), "what was not judged"))


def of(variant: str, column: Column, cell: Cell) -> Unjudged:
    poles = (UNDETERMINED.match(result.reason) for result in cell.results if result.check.kind == "golden")
    return Unjudged(
        variant,
        column.name,
        column.profile,
        dict(unsupported(cell)),
        sum(int(found[1]) for found in poles if found),
        unseen(variant, column, cell),
    )


def unseen(variant: str, column: Column, cell: Cell) -> tuple[str, ...] | None:
    """The most telling cases come first, so that a few of them mostly settle it."""
    record, profile = linattn.variant(variant), PROFILES.get(column.profile)
    if profile is None:
        return None
    seen = (m for m in MISTAKES if diagnosis.declared(profile) in m.profiles and "golden" in m.seen_by)
    left = {mistake.id for mistake in seen if mistake.applies(record, column.form)}
    judged = {r.check.scenario for r in cell.results if r.check.kind == "golden" and r.status in COMPARED}
    certified = {case.id.split("/")[1] for case in linattn_golden.cases(variant, "certified")}
    names = diagnosis.results_of(record, column.form)
    for scenario in sorted(judged & certified, key=rank):
        if not left:
            break
        known = diagnosis.signatures(f"{variant}/{scenario}", column.form, profile, names)
        left -= {mistake for mistake in left if known.resolves(mistake)}
    return tuple(sorted(left))
