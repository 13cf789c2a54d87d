"""``linattn check BACKEND``: judge an implementation, print the matrix, write reports."""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from linattn.record import FORMS


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("check", help="judge an implementation against the golden values and the laws")
    command.add_argument(
        "backend", help="a built-in name (numpy, onnx-reference, onnxruntime), path.py, or module:object"
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
    command.add_argument(
        "--timeout", type=float, default=120.0, metavar="S", help="seconds for one check (default: 120)"
    )
    command.add_argument("--workers", type=int, metavar="N", help="processes (default: one per core)")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from linattn_spec import NoBackend, load, runner
    from linattn_spec.plan import Selection, plan
    from linattn_spec.results import Run
    from linattn_tools.report.terminal import print_matrix

    try:
        backend = load(options.backend)
    except NoBackend as reason:
        print(f"linattn: {reason}{hint(options.backend)}", file=sys.stderr)
        return 2
    checks = plan(backend, Selection(tuple(options.variant), tuple(options.form), tuple(options.profile)))
    if not checks:
        raise ValueError(f"{options.backend} implements nothing of what was selected")
    environment = runner.environment(options.backend, backend)
    finished = Run(environment, tuple(announced(collect(options, environment, checks), checks)))
    print_matrix(finished, Console())
    write_reports(finished, options)
    return finished.exit_code


def collect(options: argparse.Namespace, environment: dict[str, Any], checks: list) -> Iterator[Any]:
    """Every planned check with its result: from the log, from a worker, or as not run."""
    from linattn_spec import results, runner

    log = options.log or Path(".linattn") / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', options.backend)}.jsonl"
    known = {}
    if options.resume and log.exists():
        known = {r.check: r for r in results.read_log(log, environment) if r.status not in ("error", "not run")}
    else:
        results.start_log(log, environment)
    fresh = runner.run(options.backend, [c for c in checks if c not in known], options.timeout, options.workers)
    interrupted = False
    for check in checks:
        if check in known:
            yield known[check]
            continue
        try:
            result = results.Result(check, "not run", "interrupted") if interrupted else next(fresh)
        except KeyboardInterrupt:
            interrupted = True
            result = results.Result(check, "not run", "interrupted")
        if not interrupted:
            results.append(log, result)
        yield result


def announced(found: Iterator[Any], checks: list) -> Iterator[Any]:
    """The results, while one line for every function and profile says how it went."""
    from linattn_tools.report.terminal import status_line

    for (variant, column, profile), group in groupby(
        found, key=lambda r: (r.check.variant, r.check.column, r.check.profile)
    ):
        results = []
        for result in group:
            results.append(result)
            if result.status in ("fail", "error"):
                print(status_line(result), flush=True)
        passed = sum(result.status == "pass" for result in results)
        judged = sum(result.status not in ("unsupported", "not run") for result in results)
        print(f"{variant} {column} {profile}: {passed} of {judged} passed", flush=True)
        yield from results


def write_reports(finished: Any, options: argparse.Namespace) -> None:
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


def hint(name: str) -> str:
    return "; pip install 'linattn[onnx]'" if name in ("onnxruntime", "onnx-reference") else ""
