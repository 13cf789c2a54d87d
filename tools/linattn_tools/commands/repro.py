"""``linattn repro ID --backend B``: one check again, with the first wrong value and a snippet for a bug report."""

import argparse
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("repro", help="run one check again and write a snippet that shows what is wrong")
    command.add_argument("id", help="the id of a check, as reports print it")
    command.add_argument("--backend", required=True)
    command.add_argument(
        "--out", type=Path, default=Path("."), metavar="DIR", help="where to write the snippet and its arrays"
    )
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    from linattn_spec import NoBackend, checks, load
    from linattn_spec.results import Check

    check = Check.parse(options.id)
    try:
        backend = load(options.backend)
    except NoBackend as reason:
        raise ValueError(str(reason)) from reason
    result = checks.run_check(backend, check)
    print(f"{check.id}: {result.status}" + (f"\n{result.reason}" if result.reason else ""))
    if result.status == "unsupported":
        return 2
    bench = checks.bench_of(backend, check)
    if result.status != "error":
        for comparison in checks.CHECKS[check.kind](bench):
            for name in comparison.got:
                print(first_wrong(name, comparison))
    print(f"\n{write_snippet(bench, check.id, options)}")
    return int(result.status not in ("pass", "limit"))


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


def write_snippet(bench: Any, check_id: str, options: argparse.Namespace) -> str:
    """A script and its arrays, which need NumPy and the implementation alone."""
    name = "repro-" + re.sub(r"[^A-Za-z0-9.]+", "-", check_id)
    arguments = bench.exchange.arguments(bench.data.inputs, bench.state)
    arrays: dict[str, Any] = {}
    numbers: dict[str, Any] = {}
    for key, value in arguments.items():
        for suffix, x in enumerate(value) if isinstance(value, tuple) else [("", value)]:
            target = numbers if x is None or isinstance(x, float) else arrays
            target[f"{key}{suffix}"] = x if target is numbers else np.asarray(x)
    wanted = {f"want/{key}": x for key, x in bench.truth.values.items()}
    np.savez(options.out / f"{name}.npz", **arrays, **wanted)
    script = options.out / f"{name}.py"
    script.write_text(snippet(bench, check_id, f"{name}.npz", numbers, sorted(arrays)))
    return f"{script.read_text()}\n# written to {script}, arrays in {options.out / name}.npz"


def snippet(bench: Any, check_id: str, file: str, numbers: dict[str, Any], arrays: list[str]) -> str:
    function, layout = bench.exchange.function, bench.exchange.function.conventions.layout
    turn = "np.swapaxes(output, 1, 2)" if layout == "BTHD" else "output"
    return f'''"""{check_id}"""
import numpy as np

file = np.load("{file}")
arguments = {{name: file[name] for name in {arrays}}} | {numbers}

{function.snippet or own_source(function.call)}
got, want = {turn}, file["want/output"]  # (B, H, T, V)
print("largest error", np.abs(np.asarray(got, dtype=float) - want).max(), "where values are up to", np.abs(want).max())
'''


def own_source(call: Any) -> str:
    """The adapter's own code without its decorators, and the imports of its file other than the suite's."""
    lines = textwrap.dedent(inspect.getsource(call)).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("def "))
    module = inspect.getmodule(call)
    source = inspect.getsource(module).splitlines() if module else Path(inspect.getfile(call)).read_text().splitlines()
    imports = [line for line in source if re.match(r"(import|from) (?!linattn_spec|numpy as np)", line)]
    body = "\n".join([*imports, "", *lines[start:]])
    return f"{body}\n\noutput, state = {call.__name__}(**arguments)"
