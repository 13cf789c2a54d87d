"""``linattn bench verdict``: what criteria accept of right kernels and reject of mutants, on the same runs."""

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from linattn_tools.commands import count

RUNS = 8000
PROFILES = ("fp64", "fp32", "tf32", "bf16", "bf16-io", "fp16", "fp16-io")
NAME, CELL = 24, 13  # columns


def add(subparsers: Any) -> None:
    command = subparsers.add_parser(
        "verdict", help="right kernels accepted and mutants rejected, by this suite and by rules in use elsewhere"
    )
    command.add_argument("--runs", type=count, default=RUNS, metavar="N", help=f"right runs at least (default: {RUNS})")
    command.add_argument(
        "--profile", action="append", choices=PROFILES, help="may be repeated (default: all)", metavar="P"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write every outcome")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    """The exit code is 1 where this suite rejects a right kernel."""
    profiles = tuple(name for name in PROFILES if name in (options.profile or PROFILES))
    found = collected(options.runs, profiles)
    print("\n".join(table(found, profiles)))
    wrong = [one for one in found if not one.mistake and not one.is_accepted]
    for one in wrong:
        print(f"right, and rejected: {one.case}, {one.form}, {one.profile}, {one.kernel}")
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in found]) + "\n")
    return int(bool(wrong))


def collected(runs: int, profiles: tuple[str, ...]) -> list[Any]:
    """All outcomes, in the order of the settings; the longest sequences are computed first."""
    from linattn_tools.progress import track
    from linattn_tools.verdict_bench.settings import enough
    from linattn_tools.verdict_bench.trial import outcomes

    settings = list(enough(runs, len(profiles)))
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        longest = sorted(settings, key=lambda one: -one.tokens)
        found = {one.number: pool.submit(outcomes, one.number, profiles) for one in longest}
        done = {number: future.result() for number, future in track(found.items(), len(found), "verdicts")}
    return [outcome for one in settings for outcome in done[one.number]]


def table(found: list[Any], profiles: tuple[str, ...]) -> Iterator[str]:
    """Per profile, and of all: per cent of the right runs accepted, and of the mutants rejected."""
    from linattn_tools.verdict_bench.criteria import CRITERIA, LEAVE_ONE_OUT

    columns = [[one for one in found if one.profile == profile] for profile in profiles] + [found]
    yield "per cent of right runs accepted, and of mutants rejected\n"
    yield line("criterion", [*profiles, "all"])
    for name in CRITERIA:
        yield line(name, [f"{accepted(name, column)} {rejected(name, column)}" for column in columns])
    yield line(f"  {LEAVE_ONE_OUT}", [rejected(LEAVE_ONE_OUT, column) for column in columns])
    yield line("largest load", [f"{max(one.load for one in column if not one.mistake):.2f}" for column in columns])
    yield line("right runs", [str(sum(not one.mistake for one in column)) for column in columns])
    yield line("mutants", [str(sum(bool(one.mistake) for one in column)) for column in columns])


def line(name: str, cells: list[str]) -> str:
    return f"{name:{NAME}}" + "".join(f"{cell:>{CELL}}" for cell in cells)


def accepted(criterion: str, outcomes: list[Any]) -> str:
    return per_cent([one.accepted[criterion] for one in outcomes if not one.mistake])


def rejected(criterion: str, outcomes: list[Any]) -> str:
    return per_cent([not one.accepted[criterion] for one in outcomes if one.mistake])


def per_cent(cases: list[bool]) -> str:
    """Of nearly all, not all: 100.0 is none missed."""
    share = 100 * sum(cases) / len(cases) if cases else 0.0
    return f"{min(share, 99.9) if share < 100 else share:.1f}".rjust(5)
