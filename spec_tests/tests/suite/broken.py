"""Broken adapters, and the checks that judge them; ``python broken.py`` prints how many see each break."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from breaks_seen import BREAKS

from linattn_spec import PROFILES, Backend
from linattn_spec.backends import onnx_runtime
from linattn_spec.checks import run_check
from linattn_spec.plan import plan
from linattn_spec.results import Result

COLUMNS = ("recurrent.com.microsoft", "recurrent.ai.onnx")
WRONG = ("fail", "limit", "error")


def backend_with(column: str, variant: str, spoil: Callable[..., Any] | None = None) -> Backend:
    """One function of ONNX Runtime in float32, right or broken."""
    right = onnx_runtime.backend.function(variant, column)

    @wraps(right.call)
    def call(**arguments: Any) -> Any:
        return spoil(right.call, arguments) if spoil else right.call(**arguments)

    return Backend("broken", functions=[replace(right, call=call, profiles=(PROFILES["fp32"],))])


def judged(backend: Backend) -> list[Result]:
    """All planned checks that the adapter can be judged on."""
    results = [run_check(backend, check) for check in plan(backend)]
    return [result for result in results if result.status not in ("unsupported", "noted")]


def table() -> str:
    """Break by break: the checks that see it among those that judge, and their kinds."""
    lines = ["| break | com.microsoft | ai.onnx | seen by |", "|---|---|---|---|"]
    for broken in BREAKS:
        counts, kinds = [], set()
        for column in COLUMNS:
            results = judged(backend_with(column, broken.variant, broken.run))
            wrong = [result for result in results if result.status in WRONG]
            counts.append(f"{len(wrong)}/{len(results)}")
            kinds |= {result.check.kind for result in wrong}
        lines.append(f"| {broken.name} | {' | '.join(counts)} | {', '.join(sorted(kinds))} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
