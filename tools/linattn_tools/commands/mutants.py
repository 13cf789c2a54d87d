"""``linattn mutants``: every documented mistake through the suite: which are rejected, and are they named?"""

import argparse
import json
import multiprocessing
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any

from linattn.variants import VARIANTS

PROFILES = ("fp32", "bf16", "fp16")
CAUSAL = ("recurrent", "chunkwise", "parallel")


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("mutants", help="measure the suite: run every documented mistake through it")
    command.add_argument("mistake", nargs="*", help="ids of mistakes (default: all)")
    command.add_argument("--profile", action="append", metavar="P", help=f"default: {', '.join(PROFILES)}")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the kill matrix")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    from linattn_spec.mistakes import MISTAKES, mistake
    from linattn_spec.mistakes.power import trials
    from linattn_tools.progress import track

    chosen = tuple(mistake(name).id for name in options.mistake)
    shown = [one for one in MISTAKES if one.id in (chosen or [one.id])]
    refuse_untried(options.profile or (), shown)
    profiles = tuple(options.profile or PROFILES)
    places = [(variant.name, form) for variant in VARIANTS for form in CAUSAL if form in variant.forms]
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        found = [pool.submit(trials, *place, profiles, chosen) for place in places]
        done = [trial for future in track(as_completed(found), len(found), "mutants") for trial in future.result()]
    print(f"{'mistake':34} {'kind':14} " + " ".join(f"{f'{p} {f[:5]}':>11}" for p in profiles for f in CAUSAL))
    for one in shown:
        print(row(one, [trial for trial in done if trial.mistake == one.id], profiles))
    print("\n" + summary(done))
    if options.json:
        options.json.write_text(json.dumps([asdict(trial) for trial in done], indent=1) + "\n")
    return int(not all(trial.killed for trial in done))


def refuse_untried(profiles: Iterable[str], mistakes: list[Any]) -> None:
    """A misspelt profile, or one in which nothing is tried, would be a success that nobody earned."""
    for name in profiles:
        if not any(name in one.profiles for one in mistakes):
            raise ValueError(f"no mutant is tried in profile {name!r}; there are {', '.join(PROFILES)}")


def row(mistake: Any, trials: Iterable[Any], profiles: tuple[str, ...]) -> str:
    """Variants in which it is rejected, of those to which it applies."""
    cells = []
    for profile in profiles:
        for form in CAUSAL:
            here = [trial for trial in trials if (trial.profile, trial.form) == (profile, form)]
            cells.append(f"{sum(bool(t.killed) for t in here)}/{len(here)}" if here else "-")
    return f"{mistake.id:34} {mistake.kind:14} " + " ".join(f"{cell:>11}" for cell in cells)


def summary(trials: list[Any]) -> str:
    killed, named = sum(bool(t.killed) for t in trials), sum(t.is_named for t in trials)
    without = sum(bool(t.killed_without) for t in trials)
    return f"{killed} of {len(trials)} mutants rejected, {named} named, {without} rejected without their own signature"
