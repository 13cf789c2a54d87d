"""Progress on long work: a bar on a terminal, nothing where the output is a file or a pipe."""

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def track(items: Iterable[Item], total: int, what: str) -> Iterator[Item]:
    """The items, while a bar on stderr counts them."""
    from rich.console import Console
    from rich.progress import track as rich_track

    console = Console(file=sys.stderr)
    yield from rich_track(
        items, description=what, total=total, console=console, transient=True, disable=not console.is_terminal
    )
