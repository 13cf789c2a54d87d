"""``linattn list``: all variants, their forms, inputs and state."""

import argparse
import json
from typing import Any

from linattn.record import Variant
from linattn.variants import known


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("list", help="all variants, their forms, inputs and state")
    command.add_argument("--json", action="store_true", help="the records as JSON")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    if options.json:
        print(json.dumps([as_json(variant) for variant in known()], indent=1))
        return 0
    width = max(len(variant.name) for variant in known())
    for variant in known():
        inputs = " ".join(item.name for item in variant.inputs)
        state = ", ".join(f"{item.name} ({item.axes})" for item in variant.state)
        cited = "".join(f"; {source.cited}" for source in variant.sources[:1])
        print(f"{variant.name:{width}} {variant.summary}\n{'':{width}} forms: {' '.join(variant.forms)}")
        print(f"{'':{width}} inputs: {inputs}; state: {state}{cited}\n")
    print(f"{len(known())} variants. linattn explain NAME tells all about one.")
    return 0


def as_json(variant: Variant) -> dict[str, Any]:
    """The record as data; an infinite end of a domain is None, log 0 as a value "-inf"."""

    def inputs(item: Any) -> dict[str, Any]:
        domain = item.domain and [None if abs(end) == float("inf") else end for end in item.domain]
        return {**plain(item), "domain": domain}

    def plain(item: Any) -> dict[str, Any]:
        return {name: "-inf" if value == float("-inf") else value for name, value in vars(item).items()}

    return {
        "name": variant.name,
        "title": variant.title,
        "summary": variant.summary,
        "forms": list(variant.forms),
        "inputs": [inputs(item) for item in variant.inputs],
        "state": [plain(item) for item in variant.state],
        "output": variant.output,
        "read": variant.read,
        "erase": variant.erase,
        "linear": list(variant.linear_in),
        "mixing": variant.mixing,
        "sizes": variant.sizes,
        "exact": variant.exact,
        "exempt": list(variant.exempt),
        "constraints": list(variant.constraints),
        "sources": [vars(source) for source in variant.sources],
        "aliases": variant.aliases,
        "used_by": variant.used_by,
    }
