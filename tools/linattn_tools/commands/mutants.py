"""``linattn mutants``: every documented mistake through the suite: which are rejected, and are they named?"""

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import linattn
from linattn.record import FORMS
from linattn.variants import VARIANTS
from linattn_tools import own

PROFILES = ("fp32", "bf16", "fp16")


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("mutants", help="measure the suite: run every documented mistake through it")
    command.add_argument("mistake", nargs="*", help="ids of mistakes (default: all)")
    command.add_argument("--list", action="store_true", help="say what the mistakes are instead; of ids, all there is")
    command.add_argument(
        "--variant", action="append", default=[], metavar="V", help="only in this variant, also one of yours, path.py"
    )
    command.add_argument("--profile", action="append", metavar="P", help=f"default: {', '.join(PROFILES)}")
    command.add_argument("--json", type=Path, metavar="FILE", help="write the kill matrix, and mistakes against cases")
    command.add_argument("--html", type=Path, metavar="FILE", help="write both as a page to read")
    command.set_defaults(run=own.admitted(run), extra="spec")


def run(options: argparse.Namespace) -> int:
    from linattn_spec.mistakes import MISTAKES, mistake
    from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES

    backward = {one.id for one in GRADIENT_MISTAKES}
    chosen = tuple(name if name in backward else mistake(name).id for name in options.mistake)
    catalogue: tuple[Any, ...] = (*MISTAKES, *GRADIENT_MISTAKES)
    shown = [one for one in catalogue if one.id in (chosen or [one.id])]
    if options.list:
        print("\n".join(listed(shown, in_full=bool(chosen))))
        return 0
    refuse_untried(options.profile or (), shown)
    for path in filter(None, (options.json, options.html)):
        refuse_unwritable(path)
    profiles = tuple(options.profile or PROFILES)
    variants = tuple(map(linattn.variant, options.variant)) or VARIANTS
    trials, sights, complete = measured(variants, profiles, chosen, with_sights=bool(options.json or options.html))
    print(f"{'mistake':34} {'kind':16} " + " ".join(f"{f'{p} {f[:5]}':>11}" for p in profiles for f in FORMS))
    for one in shown:
        tried = [trial for trial in trials if trial.mistake == one.id]
        if tried or not options.variant:
            print(row(one, tried, profiles))
    print("\n" + summary(trials))
    write_reports(options, shown, trials, sights)
    return int(not complete or not all(trial.killed for trial in trials))


def measured(
    variants: Iterable[linattn.Variant], profiles: tuple[str, ...], chosen: tuple[str, ...], with_sights: bool
) -> tuple[list[Any], list[Any], bool]:
    """All trials; how far each case shows each mistake; and whether that is all, or an interruption came."""
    places = [(variant.name, form) for variant in variants for form in FORMS if form in variant.forms]
    trials: list[Any] = []
    sights: list[Any] = []
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        found = {pool.submit(measured_at, *place, profiles, chosen, with_sights): place for place in places}
        try:
            for n, future in enumerate(as_completed(found), 1):
                some, seen = future.result()
                print(f"{n} of {len(found)}: {progress(*found[future], some)}", file=sys.stderr, flush=True)
                trials += some
                sights += seen
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("interrupted: what follows is of the variants above", file=sys.stderr)
            return trials, sights, False
    return trials, sights, True


def progress(variant: str, form: str, trials: list[Any]) -> str:
    """One variant and form, with the mutants that survive."""
    alive = [f"{trial.mistake} ({trial.profile})" for trial in trials if not trial.killed]
    text = f"{variant} {form}: {len(trials) - len(alive)} of {len(trials)} rejected"
    return f"{text}; not {', '.join(alive)}" if alive else text


def measured_at(
    variant: str, form: str, profiles: tuple[str, ...], chosen: tuple[str, ...], with_sights: bool
) -> tuple[list[Any], list[Any]]:
    """One variant and form, in a worker."""
    from linattn_spec.mistakes import backward_power, power

    trials = power.trials(variant, form, profiles, chosen)
    trials += backward_power.trials(variant, profiles, chosen) if form == "recurrent" else []
    return trials, power.sights(variant, form, profiles, chosen) if with_sights else []


def listed(mistakes: list[Any], in_full: bool) -> Iterable[str]:
    from linattn_tools.report import catalogue

    if not in_full:
        yield from (f"{one.id:42} {one.kind:16} {one.sentence}" for one in mistakes)
        return
    for n, one in enumerate(mistakes):
        yield from ([""] if n else [])
        yield from catalogue.page(one)


def refuse_untried(profiles: Iterable[str], mistakes: list[Any]) -> None:
    """A misspelt profile, or one in which nothing is tried, would be a success that nobody earned."""
    for name in profiles:
        if not any(name in one.profiles for one in mistakes):
            raise ValueError(f"no mutant is tried in profile {name!r}; there are {', '.join(PROFILES)}")


def refuse_unwritable(path: Path) -> None:
    """Before the work, not after it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{path} cannot be written")


def row(mistake: Any, trials: Iterable[Any], profiles: tuple[str, ...]) -> str:
    """Variants in which it is rejected by all checks that must reject it, of those to which it applies."""
    from linattn_tools.report.catalogue import tally

    cells = (tally(trials, profile, form) for profile in profiles for form in FORMS)
    return f"{mistake.id:34} {mistake.kind:16} " + " ".join(f"{cell:>11}" for cell in cells)


def summary(trials: list[Any]) -> str:
    """How many mutants each check that must reject them has rejected."""
    groups = {"golden values": [], "gradients": [], "laws": []}  # type: dict[str, list[Any]]
    for trial in trials:
        groups[{"golden": "golden values", "gradient": "gradients"}.get(trial.check, "laws")].append(trial)
    return "\n".join(f"by {name}: {rejected(group, name != 'laws')}" for name, group in groups.items() if group)


def rejected(trials: list[Any], named: bool) -> str:
    """Laws name nothing."""
    text = f"{sum(bool(t.killed) for t in trials)} of {len(trials)} mutants rejected"
    if not named:
        return text
    without = f"{sum(bool(t.killed_without) for t in trials)} rejected without their own signature"
    return f"{text}, {sum(t.is_named for t in trials)} named, {without}"


def write_reports(options: argparse.Namespace, mistakes: list[Any], trials: list[Any], sights: list[Any]) -> None:
    from linattn_tools.report import catalogue

    if options.json:
        options.json.write_text(json.dumps(catalogue.as_json(mistakes, trials, sights)) + "\n")
        print(f"wrote {options.json}")
    if options.html:
        options.html.write_text(catalogue.render(mistakes, trials, sights, summary(trials)), encoding="utf-8")
        print(f"wrote {options.html}")
