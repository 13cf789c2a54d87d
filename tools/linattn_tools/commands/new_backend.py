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
    write("backend.py.txt", options.file)
    print(f"wrote {options.file}; judge it with: linattn check {options.file}")
    return 0


def write(template: str, file: Path) -> None:
    """The template, which names the file. Raises ``ValueError`` where there is one already."""
    if file.exists():
        raise ValueError(f"{file} exists already")
    text = (files("linattn_tools") / "templates" / template).read_text(encoding="utf-8")
    file.write_text(text.replace("FILE", file.as_posix()), encoding="utf-8")
