"""``linattn new-variant FILE``: a commented variant that is proven, to be filled with one's own."""

import argparse
from pathlib import Path
from typing import Any

from linattn_tools.commands.new_backend import write


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("new-variant", help="write a commented variant of your own that is proven")
    command.add_argument("file", type=Path, help="for example my_variant.py; an existing file is kept")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    if options.file.suffix != ".py":
        raise ValueError(f"a file with a variant must end in .py; got {options.file}")
    write("variant.py.txt", options.file)
    print(f"wrote {options.file}; prove it with: linattn prove {options.file}")
    return 0
