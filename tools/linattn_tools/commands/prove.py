"""``linattn prove [VARIANT]``: all forms are one function, exactly, over a finite field. Live, without any
tolerance.
"""

import argparse
import random
import time
from typing import Any

from linattn.record import Variant
from linattn.variants import VARIANTS
from linattn.variants import variant as find
from linattn_tools import identities
from linattn_tools.commands import count


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("prove", help="prove that all forms of a variant are one function, exactly")
    command.add_argument("variant", nargs="*", help="default: all")
    command.add_argument("--points", type=count, default=3, help="random points at which each identity is evaluated")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    chosen = [find(name) for name in options.variant] or list(VARIANTS)
    print("random points of GF(2^61 - 1); a wrong identity passes one with a probability below 1e-14\n")
    return int(sum(proven(variant, options.points) for variant in chosen) < len(chosen))


def proven(variant: Variant, points: int) -> bool:
    start, holds = time.perf_counter(), True
    for identity in identities.of(variant):
        true = all(identity.holds(random.Random(point)) for point in range(points))
        print(f"{variant.name:30} {'=' if true else '≠'} {identity.name}", flush=True)
        holds &= true
    print(f"{variant.name:30} {time.perf_counter() - start:.2f} s\n")
    return holds
