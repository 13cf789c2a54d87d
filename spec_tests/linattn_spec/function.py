"""The record of one function of a backend: what it implements, what it accepts, under which conventions."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from linattn_spec.profiles import Profile

CONTROLS = ("initial_state", "chunk_size", "cu_seqlens")  # what a function may name beside the inputs


class Unsupported(Exception):
    """Raised by an adapter, or by the suite for it: this case lies outside what the implementation offers."""


@dataclass(frozen=True)
class Conventions:
    """How an implementation lays out what it takes and returns. Axes of size 1 in the record are squeezed."""

    layout: str = "BTHD"  # or "BHTD"
    state: str = "KV"  # or "VK": values are rows
    gate: str = "log"  # or "linear": log_decay is passed as exp(log_decay)
    heads: str = "repeat"  # query head h reads key head h // (Hq / Hk); or "tile": h % Hk

    def __post_init__(self) -> None:
        allowed = {
            "layout": ("BTHD", "BHTD"),
            "state": ("KV", "VK"),
            "gate": ("log", "linear"),
            "heads": ("repeat", "tile"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {', '.join(values)}; got {getattr(self, name)!r}")


@dataclass(frozen=True)
class Function:
    """One implementation of one form of one variant."""

    variant: str
    form: str
    call: Callable[..., Any]
    accepts: str
    conventions: Conventions
    profiles: tuple[Profile, ...]
    label: str = ""  # tells apart several implementations of one form
    vjp: Callable[..., Any] | None = None  # the backward pass: see ``Backend.vjp``
    without: tuple[str, ...] = ()  # arguments by which it gives no gradient
    snippet: str = ""  # code that computes ``output, state`` from ``arguments`` with the library alone, for bug reports

    @property
    def column(self) -> str:
        return f"{self.form}.{self.label}" if self.label else self.form

    def check_accepts(self, dims: dict[str, int]) -> None:
        """Raises ``Unsupported`` where the dimensions of a case do not satisfy ``accepts``."""
        dims = {"C": self.chunk_size, **dims} if "chunk_size" in self.parameters else dims
        if self.accepts and not eval(self.accepts, {"__builtins__": {}}, dict(dims)):
            raise Unsupported(f"accepts {self.accepts}; the case has {', '.join(f'{k}={v}' for k, v in dims.items())}")

    def promises(self, profile: str) -> bool:
        return any(promised.name == profile for promised in self.profiles)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.call).parameters)

    @property
    def chunk_size(self) -> Any:
        """Its own default."""
        return inspect.signature(self.call).parameters["chunk_size"].default
