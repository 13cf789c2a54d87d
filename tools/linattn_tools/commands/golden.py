"""``linattn golden``: the golden values: list and show them, prove them anew, write them."""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

import linattn_golden
from linattn_tools import own


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("golden", help="list, show, verify or generate the golden values")
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    showing = actions.add_parser("show", help="the cases, or one of them with its numbers")
    showing.add_argument("id", nargs="?", help="VARIANT/SCENARIO, or VARIANT for all cases of it")
    showing.add_argument(
        "--json", action="store_true", help="with the numbers as hexadecimal floats, exact in every language"
    )
    showing.set_defaults(run=own.admitted(show), extra="spec")
    verifying = actions.add_parser("verify", help="prove every value anew and compare bytes")
    verifying.set_defaults(run=verify, extra="certify")
    generating = actions.add_parser("generate", help="prove every value and write the fixtures")
    generating.add_argument("--out", type=Path, metavar="DIR", help="default: in place")
    for action in (showing, generating):
        action.add_argument("--variant", action="append", default=[], metavar="FILE", help="of yours alone: path.py")
    generating.set_defaults(run=generate, extra="certify")


def show(options: argparse.Namespace) -> int:
    if options.id and "/" in options.id:
        one(linattn_golden.case(options.id), options.json)
        return 0
    cases = list(linattn_golden.cases(options.id))
    if not cases:
        raise ValueError(f"there is no case of {options.id!r}")
    if options.json:
        shown = [entry for entry in linattn_golden.entries() if options.id in (None, entry["variant"])]
        print(json.dumps(shown, indent=1))
        return 0
    for case in cases:
        sizes = " ".join(f"{name}={size}" for name, size in case.dims.items())
        print(f"{case.id:45} {case.kind:10} {sizes:40} {case.why}")
    return 0


def one(case: linattn_golden.Case, as_json: bool) -> None:
    data = linattn_golden.load(case)
    state = linattn_golden.state_names(case)
    groups: dict[str, Any] = {
        "inputs": data.inputs,
        "initial_state": dict(zip(state, data.initial_state or (), strict=False)),
        "output": {} if data.output is None else {"": data.output},
        "final_state": dict(zip(state, data.final_state or (), strict=False)),
        "bidirectional": {} if data.bidirectional is None else {"": data.bidirectional},
        "cotangents": data.cotangents,
        "gradients": data.gradients,
    }
    arrays = {
        f"{group}/{n}".rstrip("/"): np.asarray(x) for group, members in groups.items() for n, x in members.items()
    }
    if as_json:
        hexadecimal = {n: {"shape": x.shape, "values": [float(v).hex() for v in x.ravel()]} for n, x in arrays.items()}
        print(json.dumps({"id": case.id, "why": case.why, "dims": case.dims, "arrays": hexadecimal}, indent=1))
        return
    proofs = ", ".join(f"{group} at {bits} bits" for group, bits in case.precision.items())
    print(f"{case.id}: {case.why}\n{case.kind}, proven: {proofs}")
    with np.printoptions(floatmode="unique", threshold=200, linewidth=120):
        for name, array in arrays.items():
            print(f"\n{name} {array.shape}\n{array}")


def verify(options: argparse.Namespace) -> int:
    from linattn_tools.golden import generator

    different = generator.verify(linattn_golden.HERE)
    for name in different:
        print(f"differs: {name}")
    counts = linattn_golden.manifest()["counts"]
    if not different:
        print(f"every byte proven anew: {counts['certified']} certified cases, {counts['recipe']} recipes")
    return int(bool(different))


def generate(options: argparse.Namespace) -> int:
    from linattn_tools.golden import generator

    if options.variant and not options.out:
        raise ValueError("--variant needs --out DIR: in place are the values of our variants alone")
    with own.named(options.variant):
        variants = [own.found(file) for file in options.variant] or generator.VARIANTS
        out = options.out or linattn_golden.HERE
        names = generator.generate(out, variants)
    print(f"wrote {len(names)} files to {out}")
    return 0
