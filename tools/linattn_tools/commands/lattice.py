"""``linattn lattice``: which variant is which other one under a restriction, in words or as a picture."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linattn.lattice import EDGES, LOOKALIKES, MEETINGS
from linattn.variants import VARIANTS


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("lattice", help="which variant is which other one under a restriction")
    command.add_argument("--svg", metavar="FILE", type=Path, help="draw it into a file")
    command.add_argument("--lookalikes", action="store_true", help="what is only taken for a reduction, too")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    if options.svg:
        from linattn_tools.picture import svg

        options.svg.write_text(svg.render(options.lookalikes), encoding="utf-8", newline="\n")
        print(f"{len(VARIANTS)} variants in {options.svg}")
    else:
        print(*lines(options.lookalikes), sep="\n")
    return 0


def lines(lookalikes: bool) -> Iterator[str]:
    """The general variant first, those with which the field begins before others."""
    place = {variant.name: n for n, variant in enumerate(VARIANTS)}
    for edge in sorted(EDGES, key=lambda edge: place[edge.general]):
        yield f"{edge.general} -> {edge.special}: {edge.restriction}"
    yield from ("", "Variants that meet where both are restricted")
    yield from (f"{edge.special} = {edge}" for edge in MEETINGS)
    if lookalikes:
        yield from ("", "Only taken for a reduction")
        yield from (f"{edge.special} ≠ {edge}" for edge in LOOKALIKES)
    yield f"\n{len(EDGES)} reductions, {len(MEETINGS)} meetings. linattn prove NAME proves those of a variant."
