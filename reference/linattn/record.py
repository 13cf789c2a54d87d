"""The record of a variant: everything that the suite, the goldens, the command line and the documentation need to
know.

A variant is two functions and this record. Nothing that stands here is declared a second time anywhere else.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

FORMS = ("recurrent", "chunkwise", "parallel", "bidirectional")


@cache  # every token asks, for every input
def time_axis(axes: str) -> int | None:
    """Position of the axis ``T`` counted from the end, None where there is none: ``"T K"`` -> -2."""
    names = axes.split()
    return names.index("T") - len(names) if "T" in names else None


@dataclass(frozen=True)
class Input:
    """One input. ``axes`` are its trailing axes; any leading axes (batch, heads) broadcast.

    ``"T K"`` is a sequence of vectors, ``"T 1"`` a number per token, ``"1"`` a parameter per head, ``""`` one number.
    """

    name: str
    axes: str
    doc: str
    heads: str = "none"  # which head count it follows: "q", "k", "v", or "none" for a number shared by all
    kind: str = "number"  # "log": lives in the exponent; "angle": of a rotation; the finite field has numbers for both
    domain: tuple[float, float] | None = None  # closed interval; None: every finite number
    neutral: float | None = None  # the value at which the input has no effect
    default: float | str | None = None  # a number, or one of the rules in ``validate.DEFAULTS``; None: required
    role: str = "data"  # "data", "gate" or "parameter"
    differentiable: bool = True
    typical: str = "bell"  # the draw of ordinary values: a name of ``linattn_golden.draws``
    singular: float | None = None  # the value at which there is no derivative by it

    @property
    def time(self) -> int | None:
        return time_axis(self.axes)

    @property
    def limits(self) -> str:
        """The domain in words."""
        if self.domain is None:
            return "finite"
        low, high = self.domain
        if low == float("-inf"):
            return f"<= {high:g}"
        return f">= {low:g}" if high == float("inf") else f"in [{low:g}, {high:g}]"


@dataclass(frozen=True)
class State:
    """One tensor of the state of a key/value head. An axis ``P`` starts empty and grows by one with every token."""

    name: str
    axes: str
    doc: str
    initial: float = 0.0
    kind: str = "number"  # as for inputs; "count": an integer
    relative_to: str = ""  # the state m where this one stands for itself times exp(m); the choice of m is free
    typical: str = "bell"


@dataclass(frozen=True)
class Source:
    """Where the mathematics is written down: a paper and the places in it."""

    title: str
    authors: str
    year: int
    arxiv: str
    where: str

    @property
    def cited(self) -> str:
        return f"{self.authors}, {self.year}" + self.identifier

    @property
    def identifier(self) -> str:
        """Not everything that is cited is on arXiv."""
        return f", arXiv:{self.arxiv}" if self.arxiv else ""

    def __str__(self) -> str:
        return f"{self.authors}, {self.title!r}, {self.year}{self.identifier}: {self.where}"


@dataclass(frozen=True)
class Variant:
    """A variant: ``step`` and ``parallel`` as functions, all else as data.

    ``step(*state, **token) -> (state, output)`` is the recurrence, ``parallel(*state, **sequence) -> (state,
    outputs)`` the closed form. ``bidirectional`` holds two routes to the non-causal form, ``f(**sequence) ->
    outputs``.
    """

    name: str
    title: str
    summary: str
    step: Callable[..., Any]
    parallel: Callable[..., Any] | None
    inputs: tuple[Input, ...]
    state: tuple[State, ...]
    sources: tuple[Source, ...]
    output: str = "T V"
    read: str = "inclusive"  # a token sees its own write; "exclusive": in a bonus at most; "strictly exclusive": never
    erase: str | None = None  # delta rules with a decay: the erase term reads the "decayed" or the "undecayed" state
    linear: tuple[str, ...] | None = None  # inputs and states in which, together, the outputs are linear; see below
    mixing: bool = False  # whether a channel of the output depends on the values in other channels
    sizes: str = ""  # what the sizes of the axes must satisfy together, such as "2 * R <= K"
    exact: str = "output and state"  # what is an identity over the finite field
    bidirectional: tuple[Callable[..., Any], Callable[..., Any]] | None = None
    exempt: tuple[str, ...] = ()  # laws of the suite that do not hold here, as a constraint says
    constraints: tuple[str, ...] = ()
    aliases: dict[str, str] = field(default_factory=dict)  # name elsewhere, by library
    used_by: dict[str, str] = field(default_factory=dict)  # released models, and the module that computes it for them

    def __post_init__(self) -> None:
        names = [item.name for item in self.inputs] + [item.name for item in self.state]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name}: every input and state needs a name of its own; got {names}")

    @property
    def forms(self) -> tuple[str, ...]:
        has = {
            "recurrent": True,
            "chunkwise": self.parallel,
            "parallel": self.parallel,
            "bidirectional": self.bidirectional,
        }
        return tuple(form for form in FORMS if has[form])

    def fits(self, sizes: Mapping[str, int]) -> bool:
        """Whether the sizes of the axes go together as ``sizes`` says."""
        return not self.sizes or bool(eval(self.sizes, {"__builtins__": {}}, dict(sizes)))

    @property
    def usual_form(self) -> str:
        return "chunkwise" if self.parallel else "recurrent"

    @property
    def linear_in(self) -> tuple[str, ...]:
        """``linear``, or else v, where there is one, and what the state holds of the values."""
        if self.linear is not None:
            return self.linear
        if not self.has("v"):
            return ()
        return ("v", *(item.name for item in self.state if item.axes.endswith("V")))

    def input(self, name: str) -> Input:
        return next(item for item in self.inputs if item.name == name)

    def has(self, name: str) -> bool:
        return any(item.name == name for item in self.inputs)
