"""``linattn bench``: time and working memory of the float64 reference against the length of the sequence.

``linattn bench verdict`` measures the verdict instead.
"""

import argparse
import json
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linattn import forms
from linattn.record import Variant
from linattn.variants import variant as find
from linattn_tools.commands import bench_verdict, count

VARIANTS = ("linear_attention", "simple_gla", "gated_delta_rule", "kda")
HEADS = 8


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("bench", help="time and memory of the float64 reference against T")
    command.add_argument("--variant", action="append", metavar="V", help=f"default: {', '.join(VARIANTS)}")
    command.add_argument("--tokens", type=count, nargs="+", default=[1024, 4096, 16384, 65536], metavar="T")
    command.add_argument(
        "--width", type=count, nargs="+", default=[64, 128], metavar="K", help="K = V (default: 64 128)"
    )
    command.add_argument("--json", type=Path, metavar="FILE", help="write the measurements")
    command.set_defaults(run=run, extra="spec")
    bench_verdict.add(command.add_subparsers(title="instead", metavar="verdict"))


def run(options: argparse.Namespace) -> int:
    """Per token: a row that stays level is linear time. The memory is what one token or one chunk needs."""
    print(f"float64, H = {HEADS}, K = V; microseconds per token and MiB of working memory beside inputs and outputs\n")
    print(f"{'variant':28} {'form':10} {'K':>4} " + "".join(f"{f'T={t}':>20}" for t in options.tokens))
    rows = []
    for name in options.variant or VARIANTS:
        for form in [form for form in ("recurrent", "chunkwise") if form in find(name).forms]:
            for width in options.width:
                measured = list(measure(name, form, width, options.tokens))
                cells = "".join(f"{m['us_per_token']:>10.1f} {m['mib']:>5.1f} MiB" for m in measured)
                print(f"{name:28} {form:10} {width:>4} {cells}", flush=True)
                rows += measured
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def measure(name: str, form: str, width: int, lengths: list[int]) -> Iterator[dict[str, Any]]:
    variant = find(name)
    for tokens in lengths:
        state, inputs = draw(variant, tokens, width)
        seconds = statistics.median(timed(variant, form, state, inputs) for _ in range(3 if tokens < 16384 else 1))
        yield {
            "variant": name,
            "form": form,
            "K": width,
            "T": tokens,
            "us_per_token": 1e6 * seconds / tokens,
            "mib": working_memory(variant, form, state, inputs) / 2**20,
        }


def working_memory(variant: Variant, form: str, state: tuple, inputs: dict[str, Any]) -> int:
    """The most bytes that one call of ``step`` or ``parallel`` takes; the fold around it only collects outputs."""
    peaks = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            result = function(*arguments, **named)
            peaks.append(tracemalloc.get_traced_memory()[1] - before)
            return result

        return call

    closed = variant.parallel and watched(variant.parallel)
    tracemalloc.start()
    forms.run(replace(variant, step=watched(variant.step), parallel=closed), form, state, inputs)
    tracemalloc.stop()
    return max(peaks)


def timed(variant: Any, form: str, state: tuple, inputs: dict[str, Any]) -> float:
    start = time.perf_counter()
    forms.run(variant, form, state, inputs)
    return time.perf_counter() - start


def draw(variant: Any, tokens: int, width: int) -> tuple[tuple, dict[str, Any]]:
    """Well-behaved random inputs: unit keys, mild gates."""
    rng = np.random.default_rng(0)
    sizes = {"T": tokens, "K": width, "V": width, "P": 0}
    inputs: dict[str, Any] = {}
    for item in variant.inputs:
        shape = (HEADS, *(sizes.get(axis, 1) for axis in item.axes.split()))
        x = rng.random(shape) if item.axes else width**-0.5
        if item.name == "log_decay":
            x = -0.1 * x
        elif item.name == "k":
            x = x / np.sqrt((x * x).sum(axis=-1, keepdims=True))
        inputs[item.name] = x
    state = tuple(np.zeros((HEADS, *(sizes.get(axis, 1) for axis in item.axes.split()))) for item in variant.state)
    return state, inputs
