"""``linattn prove [VARIANT]``: all forms are one function, and the edges of the lattice hold, exactly, over a finite
field. Live, without any tolerance.
"""

import argparse
import random
import time
from typing import Any

from linattn.record import Variant
from linattn.variants import NAMES, VARIANTS
from linattn_tools import gradients, identities, own, reductions
from linattn_tools.commands import count


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("prove", help="prove that all forms of a variant are one function, exactly")
    command.add_argument("variant", nargs="*", help="names, or files of yours, path.py (default: all)")
    command.add_argument("--points", type=count, default=3, help="random points at which each identity is evaluated")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    chosen = [own.found(name) for name in options.variant] or list(VARIANTS)
    print("random points of GF(2^61 - 1); a wrong identity passes one with a probability below 1e-14\n")
    if not reductions.CAN_CERTIFY:
        print("edges of the lattice that need certified numbers are left out: pip install 'linattn[certify]'\n")
    held = [proven(variant, options.points) for variant in chosen]
    held += [derived(variant) for variant in chosen if variant.name not in NAMES]
    return int(not all(held))


def proven(variant: Variant, points: int) -> bool:
    start, holds = time.perf_counter(), True
    for identity in (*identities.of(variant), *reductions.of(variant)):
        true = all(identity.holds(random.Random(point)) for point in range(points))
        print(f"{variant.name:34} {'=' if true else '≠'} {identity.name}", flush=True)
        holds &= true
    for lookalike in reductions.lookalikes(variant):
        same = any(lookalike.holds(random.Random(point)) for point in range(points))
        verdict = "= {}, which must not be" if same else "≠ {}, as it must be"
        print(f"{variant.name:34} {verdict.format(lookalike.name)}", flush=True)
        holds &= not same
    print(f"{variant.name:34} {time.perf_counter() - start:.2f} s\n")
    return holds


def derived(variant: Variant) -> bool:
    """Of a variant of one's own. Those of ours are derived in the tests."""
    true = gradients.agree(variant)
    print(
        f"{variant.name:34} {'=' if true else '≠'} gradients by the tape = by complex steps, to the rounding of float64"
    )
    return true
