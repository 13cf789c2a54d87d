"""``linattn explain VARIANT``: equations, inputs, state, constraints, sources and the code, on one page."""

import argparse
import inspect
from collections.abc import Iterable
from typing import Any

from linattn.record import Input, Variant
from linattn.variants import variant as find


def add(subparsers: Any) -> None:
    command = subparsers.add_parser(
        "explain", help="equations, inputs, state, constraints, sources and code of a variant"
    )
    command.add_argument("variant", help="its name, or a file of yours, path.py")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    variant = find(options.variant)
    print("\n".join(page(variant)))
    return 0


def page(variant: Variant) -> Iterable[str]:
    yield from (inspect.cleandoc(variant.step.__globals__["__doc__"] or variant.title), "", "Inputs")
    yield from (f"  {item.name:10} {axes(item):10} {describe(item)}" for item in variant.inputs)
    yield "State"
    yield from (
        f"  {item.name:10} {'(..., ' + ', '.join(item.axes.split()) + ')':10} {item.doc}" for item in variant.state
    )
    yield f"Forms\n  {', '.join(variant.forms)}; the read is {variant.read}" + (
        f", the erase term reads the {variant.erase} state" if variant.erase else ""
    )
    yield f"Proven exactly over a finite field\n  {variant.exact}"
    yield from ("Constraints", *(f"  {constraint}" for constraint in variant.constraints))
    yield from ("Sources", *(f"  {source}" for source in variant.sources))
    yield from ("Elsewhere", *(f"  {library}: {name}" for library, name in variant.aliases.items()))
    used_by = [f"  {model}: {module}" for model, module in variant.used_by.items()]
    yield from ("Used by", *(used_by or ["  no released model that this project knows of"]))
    for function in filter(None, (variant.step, variant.parallel)):
        yield from ("", inspect.getsource(function).rstrip())


def axes(item: Input) -> str:
    return f"(..., {', '.join(item.axes.split())})" if item.axes else "one number"


def describe(item: Input) -> str:
    notes = [item.limits if item.domain else "", f"default {item.default}" if item.default is not None else ""]
    notes.append(f"neutral {item.neutral:g}" if item.neutral is not None else "")
    return item.doc + "".join(f"; {note}" for note in notes if note)
