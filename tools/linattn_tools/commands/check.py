"""``linattn check BACKEND``: judge an implementation, print the matrix, write reports."""

import argparse
import json
import re
import traceback
from collections.abc import Iterator
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from linattn.record import FORMS
from linattn_tools.commands import count

ANNOUNCED = 3  # failures of a function and profile that are shown as they come; the reports have all of them


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("check", help="judge an implementation against the golden values and the laws")
    command.add_argument(
        "backend", help="a built-in name (numpy, onnxruntime, transformers ...), path.py, or module:object"
    )
    command.add_argument(
        "--variant", action="append", default=[], metavar="V", help="only this variant; may be repeated"
    )
    command.add_argument("--form", action="append", default=[], metavar="F", help=f"only this form: {', '.join(FORMS)}")
    command.add_argument(
        "--profile", action="append", default=[], metavar="P", help="only this profile, for example fp32"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a page to read")
    command.add_argument(
        "--log", type=Path, metavar="FILE", help="results as they come (default: .linattn/BACKEND.jsonl)"
    )
    command.add_argument("--resume", action="store_true", help="keep the results that the log has")
    command.add_argument("--timeout", type=count, default=120, metavar="S", help="seconds for one check (default: 120)")
    command.add_argument("--workers", type=count, metavar="N", help="processes (default: one per core)")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from linattn_spec import runner
    from linattn_spec.plan import Selection, plan
    from linattn_spec.results import Run
    from linattn_tools.report.terminal import print_matrix

    backend = loaded(options.backend)
    refuse_unknown(options, backend)
    checks = plan(backend, Selection(tuple(options.variant), tuple(options.form), tuple(options.profile)))
    if not checks:
        raise ValueError(f"{options.backend} implements nothing of what was selected")
    environment = runner.environment(options.backend, backend)
    found = announced(collect(options, environment, checks), checks)
    finished = Run(environment, tuple(until_interrupted(found, checks)))
    print_matrix(finished, Console())
    write_reports(finished, options)
    return finished.exit_code


def loaded(name: str) -> Any:
    """The backend. Raises ``ValueError`` where there is none; what fails inside its own file is shown in full."""
    from linattn_spec import NoBackend, load
    from linattn_spec.backend import BUILT_IN

    try:
        return load(name)
    except NoBackend as reason:
        extra = "onnx" if name.startswith("onnx") else name
        hint = f"; pip install 'linattn[{extra}]'" if name in BUILT_IN else ""
        raise ValueError(f"{reason}{hint}") from reason
    except Exception as failure:
        traceback.print_exc()
        raise ValueError(f"backend {name} cannot be loaded: {type(failure).__name__}: {failure}") from failure


def refuse_unknown(options: argparse.Namespace, backend: Any) -> None:
    """Every name must select something: a misspelt one among others would be a pass that nobody earned."""
    offered = {
        "variant": {function.variant for function in backend.functions},
        "form": {name for function in backend.functions for name in (function.form, function.column)},
        "profile": {profile.name for function in backend.functions for profile in function.profiles},
    }
    for option, names in offered.items():
        for name in getattr(options, option):
            if name not in names:
                raise ValueError(f"{options.backend} has no {option} {name!r}; it has {', '.join(sorted(names))}")


def until_interrupted(found: Iterator[Any], checks: list) -> list[Any]:
    """All results; after Ctrl-C those that are there, and the rest as not run."""
    from linattn_spec.results import Result

    results = []
    try:
        for result in found:
            results.append(result)
    except KeyboardInterrupt:
        results += [Result(check, "not run", "interrupted") for check in checks[len(results) :]]
    return results


def collect(options: argparse.Namespace, environment: dict[str, Any], checks: list) -> Iterator[Any]:
    """The results of the planned checks, in their order: from the log, or from a worker and into the log."""
    from linattn_spec import results, runner

    log = options.log or Path(".linattn") / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', options.backend)}.jsonl"
    known = {}
    if options.resume and log.exists():
        known = {r.check: r for r in results.read_log(log, environment) if r.status not in ("error", "not run")}
    else:
        results.start_log(log, environment)
    fresh = runner.run(options.backend, [c for c in checks if c not in known], options.timeout, options.workers)
    for check in checks:
        if check in known:
            yield known[check]
        else:
            result = next(fresh)
            results.append(log, result)
            yield result


def announced(found: Iterator[Any], checks: list) -> Iterator[Any]:
    """The results, while one line for every function and profile says how it went."""
    from linattn_tools.report.terminal import status_line

    for (variant, column, profile), group in groupby(checks, key=attrgetter("variant", "column", "profile")):
        results = []
        for result in islice(found, len(list(group))):
            results.append(result)
            wrong = sum(r.status in ("fail", "error") for r in results)
            if result.status in ("fail", "error") and wrong <= ANNOUNCED:
                print(status_line(result), flush=True)
            yield result
        passed = sum(result.status == "pass" for result in results)
        judged = sum(result.status not in ("unsupported", "not run") for result in results)
        print(f"{variant} {column} {profile}: {passed} of {judged} passed", flush=True)


def write_reports(finished: Any, options: argparse.Namespace) -> None:
    for path in filter(None, (options.json, options.html)):
        path.parent.mkdir(parents=True, exist_ok=True)
    if options.json:
        from linattn_spec.verdict import LIMITS

        content = {
            "environment": finished.environment,
            "limits": LIMITS,
            "counts": dict(finished.counts),
            "exit_code": finished.exit_code,
            "results": [json.loads(result.to_json()) for result in finished.results],
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n")
        print(f"wrote {options.json}")
    if options.html:
        from linattn_tools.report.html import render

        options.html.write_text(render(finished), encoding="utf-8")
        print(f"wrote {options.html}")
