"""``linattn repro ID --backend B``: one check again, with the first wrong value and a snippet for a bug report."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linattn_tools import own
from linattn_tools.commands.check import loaded


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("repro", help="run one check again and write a snippet that shows what is wrong")
    command.add_argument("id", help="the id of a check, as reports print it")
    command.add_argument("--backend", required=True)
    command.add_argument(
        "--variant", action="append", default=[], metavar="FILE", help="the variant, where it is one of yours: path.py"
    )
    command.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="where to write the snippet and its arrays"
    )
    command.set_defaults(run=own.admitted(run), extra="spec")


def run(options: argparse.Namespace) -> int:
    from linattn_spec import checks
    from linattn_spec.results import Check
    from linattn_spec.subject import subject_of
    from linattn_tools import snippet

    check = Check.parse(options.id)
    backend = loaded(options.backend)
    refuse_unknown(backend, check)
    result = checks.run_check(backend, check)
    print(f"{check.id}: {result.status}" + (f"\n{result.reason}" if result.reason else ""))
    if result.status == "unsupported":
        return 2
    if check.kind == "live":
        return run_smallest(options, result)
    subject = subject_of(backend, check)
    for line in comparisons(subject, check.kind) if result.status != "error" else ():
        print(line)
    script = options.out / f"repro-{re.sub(r'[^A-Za-z0-9.]+', '-', check.id)[:200]}.py"
    print(f"\n{snippet.write(subject, result, script, options.backend)}")
    print(f"# written to {script}, its arrays to {script.with_suffix('.npz')}")
    return int(result.status not in ("pass", "limit", "noted"))


def run_smallest(options: argparse.Namespace, result: Any) -> int:
    """Of a live check the smallest wrong case, shown like any other."""
    from linattn_spec import live

    smallest = live.smallest(result)
    if smallest is None:
        return int(result.status != "pass")
    options.id = smallest.id
    return run(options)


def refuse_unknown(backend: Any, check: Any) -> None:
    """An id may be well formed and name nothing. Raises ``ValueError`` that says what there is."""
    from linattn_spec import checks, live
    from linattn_spec.subject import case_of

    live.parse(check.scenario) if check.kind == "live" else case_of(check.case)
    backend.function(check.variant, check.column)
    if check.kind not in (*checks.CHECKS, "live"):
        raise ValueError(f"check must be one of {', '.join((*checks.CHECKS, 'live'))}; got {check.kind!r}")


def comparisons(subject: Any, kind: str) -> Iterator[str]:
    """Every comparison that the check makes, as far as what comes back can be compared."""
    from linattn_spec import checks
    from linattn_spec.exchange import WrongReturn

    try:
        for comparison in checks.CHECKS[kind](subject):
            yield from (first_wrong(name, comparison) for name in comparison.got)
    except WrongReturn:
        return  # the reason says it all


def first_wrong(name: str, comparison: Any) -> str:
    """The first element beyond the limit of an element, else the one that is off most."""
    from linattn_spec.verdict import LIMITS

    errors = np.nan_to_num(np.abs(comparison.error(name)), nan=np.inf)
    if not errors.size:
        return f"{comparison.what}{name}: empty"
    beyond = np.argwhere(errors > LIMITS["element"])
    index = tuple(int(i) for i in (beyond[0] if len(beyond) else np.unravel_index(errors.argmax(), errors.shape)))
    word = "first wrong" if len(beyond) else "largest error, within the limit of an element,"
    got, want = float(comparison.got[name][index]), float(comparison.want[name][index])
    return f"{comparison.what}{name}: {word} at {list(index)}: got {got!r}, want {want!r}, {errors[index]:.3g} units"
