"""What a worker was doing when it died: one line in a file that it and its parent know."""

import multiprocessing
import os
import tempfile
from pathlib import Path

from linattn_golden.draws import key_of
from linattn_spec.results import Check


def place(check: Check) -> Path:
    """The file of a check: the same in a worker and in the process that started it."""
    parent = multiprocessing.parent_process()
    owner = os.getpid() if parent is None else parent.pid
    return Path(tempfile.gettempdir()) / f"linattn-{owner}-{key_of(check.id)}"


def note(check: Check, text: str) -> None:
    place(check).write_text(text)


def forget(check: Check) -> None:
    place(check).unlink(missing_ok=True)


def noted(check: Check) -> str:
    """What was being done, as the end of a sentence; empty where nothing was noted. It is forgotten."""
    try:
        text = place(check).read_text()
    except FileNotFoundError:
        return ""
    forget(check)
    return f" in {text}"
