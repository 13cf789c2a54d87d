"""``linattn new-backend FILE``: a commented adapter that runs, to be filled with one's own implementation."""

import argparse
from importlib.resources import files
from pathlib import Path
from typing import Any


def add(subparsers: Any) -> None:
    command = subparsers.add_parser("new-backend", help="write a commented adapter that runs")
    command.add_argument("file", type=Path, help="for example my_backend.py; an existing file is kept")
    command.set_defaults(run=run, extra="spec")


def run(options: argparse.Namespace) -> int:
    if options.file.exists():
        raise ValueError(f"{options.file} exists already")
    template = files("linattn_tools") / "templates" / "backend.py.txt"
    text = template.read_text(encoding="utf-8").replace("FILE", options.file.as_posix())
    options.file.write_text(text, encoding="utf-8")
    print(f"wrote {options.file}; judge it with: linattn check {options.file}")
    return 0
