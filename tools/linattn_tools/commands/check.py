"""``linattn check BACKEND``: judge an implementation, print the matrix, write reports."""

import argparse
import json
import math
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import Any

from linattn.record import FORMS
from linattn_tools import own
from linattn_tools.commands import count


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("check", help="judge an implementation against the golden values and the laws")
    command.add_argument(
        "backend", help="a built-in name (numpy, onnxruntime, transformers ...), path.py, or module:object"
    )
    command.add_argument(
        "--variant",
        action="append",
        default=[],
        metavar="V",
        help="only this variant, also one of yours, path.py; may be repeated",
    )
    command.add_argument("--form", action="append", default=[], metavar="F", help=f"only this form: {', '.join(FORMS)}")
    command.add_argument(
        "--profile", action="append", default=[], metavar="P", help="only this profile, for example fp32"
    )
    command.add_argument("--level", metavar="L", help="smoke: a verdict in seconds; core (default); full: everything")
    command.add_argument(
        "--budget", type=count, metavar="S", help="seconds for the run: the most telling checks first, no new one then"
    )
    command.add_argument(
        "--live", type=count, metavar="N", help="draw N cases for every function and profile (at level full: 50)"
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="draw other cases (default: 0)")
    command.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a page to read")
    command.add_argument(
        "--log", type=Path, metavar="FILE", help="results as they come (default: .linattn/BACKEND.jsonl)"
    )
    again = command.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="keep the results that the log has")
    again.add_argument("--last-failed", action="store_true", help="only what failed or gave no result, says the log")
    command.add_argument(
        "--known", type=Path, metavar="FILE", help="known failures (default: known_failures.toml beside path.py)"
    )
    command.add_argument("--timeout", type=count, default=120, metavar="S", help="seconds for one check (default: 120)")
    command.add_argument("--workers", type=count, metavar="N", help="processes (default: one per core)")
    command.set_defaults(run=own.admitted(run), extra="spec")


def run(options: argparse.Namespace) -> int:
    from rich.console import Console

    from linattn_spec import runner
    from linattn_spec.known import known
    from linattn_spec.plan import most_telling_first, plan
    from linattn_spec.results import Run
    from linattn_tools import session
    from linattn_tools.report.terminal import print_matrix

    deadline = time.time() + (options.budget or math.inf)
    backend = loaded(options.backend)
    refuse_unknown(options, backend)
    selection = selected(options)
    planned = plan(backend, selection)
    if not planned:
        raise ValueError(f"{options.backend} implements nothing of what was selected")
    environment = runner.environment(options.backend, backend) | {"level": selection.level, "variants": options.files}
    expected = known(options.backend, backend, options.known)
    log = options.log or session.log_of(options.backend)
    checks, kept = begun(options, planned, environment, expected, log)
    ordered = most_telling_first(checks) if options.budget else checks

    def fresh(left: list) -> Any:
        return runner.run(options.backend, left, options.timeout, options.workers, deadline)

    found = map(expected.apply, session.collect(ordered, kept, fresh, log))
    results = {r.check: r for r in session.until_interrupted(session.announced(found, ordered), ordered)}
    in_order = tuple(results[check] for check in checks)
    finished = Run(environment, in_order, expected.complaints(in_order, selection))
    print_matrix(finished, Console())
    if finished.counts["not run"]:
        print(f"go on with {'--last-failed' if options.last_failed else '--resume'}")
    write_reports(finished, options)
    return finished.exit_code


def selected(options: argparse.Namespace) -> Any:
    """What failed last may be of any level."""
    from linattn_spec import live
    from linattn_spec.plan import Selection

    level = options.level or ("full" if options.last_failed else "core")
    drawn = live.scenario(options.seed, options.live or live.EXAMPLES) if options.live or options.seed else ""
    return Selection(tuple(options.variant), tuple(options.form), tuple(options.profile), level, drawn)


def begun(options: argparse.Namespace, planned: list, environment: dict[str, Any], expected: Any, log: Path) -> Any:
    """What of the plan is run, and the results of an earlier run that are kept."""
    from linattn_spec.results import start_log
    from linattn_tools import session

    if options.last_failed:
        return session.failed(planned, log, environment, expected), {}
    if options.resume and log.exists():
        return planned, session.earlier(log, environment)
    start_log(log, environment)
    return planned, {}


def loaded(name: str) -> Any:
    """The backend. Raises ``ValueError`` where there is none; what fails inside its own file is shown in full."""
    from linattn_spec import NoBackend, load
    from linattn_spec.loading import BUILT_IN

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


def write_reports(finished: Any, options: argparse.Namespace) -> None:
    from linattn_tools.report.unjudged import unjudged

    for path in filter(None, (options.json, options.html)):
        path.parent.mkdir(parents=True, exist_ok=True)
    missing = unjudged(finished) if options.json or options.html else []
    if options.json:
        from linattn_spec.verdict import LIMITS

        content = {
            "environment": finished.environment,
            "limits": LIMITS,
            "counts": dict(finished.counts),
            "exit_code": finished.exit_code,
            "known_failures": list(finished.complaints),
            "unjudged": [asdict(one) for one in missing],
            "results": [json.loads(result.to_json()) for result in finished.results],
        }
        options.json.write_text(json.dumps(content, indent=1) + "\n")
        print(f"wrote {options.json}")
    if options.html:
        from linattn_tools.report.html import render

        options.html.write_text(render(finished, missing), encoding="utf-8")
        print(f"wrote {options.html}")
