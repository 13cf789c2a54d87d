"""The command ``linattn``. A subcommand is a module of ``linattn_tools.commands`` with ``add`` and ``run``."""

import argparse
import os
import sys
from collections.abc import Sequence

import linattn
from linattn_tools.commands import (
    bench,
    check,
    explain,
    golden,
    lattice,
    list_variants,
    mutants,
    new_backend,
    new_variant,
    prove,
    repro,
)

COMMANDS = (list_variants, explain, check, repro, mutants, prove, lattice, golden, new_backend, new_variant, bench)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="linattn", description="The executable specification of linear attention.")
    top.add_argument("--version", action="version", version=f"linattn {linattn.__version__}")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 as it should be, 1 not, 2 nothing could be judged (wrong usage, something not installed)."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a console without Unicode still gets its verdict
    options = parser().parse_args(arguments)
    try:
        code = options.run(options)
        sys.stdout.flush()
        return code
    except ModuleNotFoundError as missing:
        return refuse(f"{missing.name} is not installed; pip install 'linattn[{options.extra}]'")
    except BrokenPipeError:  # a reader such as head has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError) as wrong:
        return refuse(str(wrong))


def refuse(reason: str) -> int:
    print(f"linattn: {reason}", file=sys.stderr)
    return 2
