"""Hypothesis strategies: cases of a variant, drawn from its record alone.

    @given(strategies.inputs(linattn.variant("gla"), T=range(1, 100), K=(64, 128), accepts="K == V"))
    def test(example):
        output, state = mine(**example.data.inputs, initial_state=example.data.initial_state)

What fails shrinks to few tokens, narrow heads and typical values, and is printed as the text that makes it again:
``strategies.example(variant, text)``.
"""

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st

import linattn_golden
from linattn.record import Input, Variant
from linattn_golden import Case, Data
from linattn_golden.draws import key_of
from linattn_spec import drawn

WIDTHS = (*range(1, 10), 16, 32, 64, 128)
USUAL: dict[str, Sequence[int]] = {
    "B": (1, 2),
    "T": (*range(1, 66), 128, 129),
    "Hq": (1, 2, 3, 4, 6),
    "Hk": (1, 2),
    "Hv": (1, 2, 3, 4, 6),
    "K": WIDTHS,
    "V": WIDTHS,
}
CHUNK = 16
FEW = (1, 2, 3, 4)  # of every other axis
HEADS = "Hq == Hk and Hv % Hk == 0 or Hv == Hk and Hq % Hk == 0"
WORK = 2**20  # the product of all sizes and T once more; above it only where nothing smaller is accepted

ALTERNATIVES = {  # to typical values, the plainest first
    "mild": ("zero", "never", "slow", "strong", "medium-f32", "spike-f32", "reset", "mixed"),
    "strength": ("one", "zero", "strength-to-2", "strength-0-1-2"),
    "unit": ("one-hot", "short-unit", "repeated", "zero"),
    "positive": ("one", "one-hot", "repeated", "bell"),
    "bell": ("one-hot", "integers", "repeated", "zero"),
}
NUMBERS = (1.0, 0.25, 4.0, 2.0**-10)
SEEDS = 2**16


@dataclass(frozen=True, eq=False)
class Example:
    """A case and its arrays; printed as its text."""

    case: Case
    data: Data

    def __repr__(self) -> str:
        return self.case.id

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(self.case.id)


def example(variant: Variant, text: str) -> Example:
    """The example of a printed text, ``VARIANT/drawn(...)`` or its second half."""
    case = drawn.case(variant, text.removeprefix(f"{variant.name}/"))
    return Example(case, linattn_golden.load(case))


@st.composite
def inputs(
    draw: Any, variant: Variant, accepts: str = "", without: Collection[str] = (), **sizes: Sequence[int]
) -> Example:
    """Examples of a variant: sizes, grouped heads, kinds of gates and keys, numbers, with an initial state or none.

    ``accepts`` is a condition on the sizes, as for a ``Backend``: nothing else is drawn. Inputs in ``without``, such as
    ``initial_state``, keep the value at which they have no effect, or else their default. ``sizes`` are those from
    which an axis may choose, in this order.
    """
    permitted_sizes = permitted(variant, accepts, sizes)
    chosen: tuple[int, ...] = ()
    for axis in permitted_sizes.axes:
        choice = permitted_sizes.choice(chosen)
        if axis == "T":  # whole chunks, and what is left over, shrink apart
            least, *more = sorted({size // CHUNK for size in choice})
            chunks = pick(draw, [least] * (len(more) + 1) + more)  # half of all cases are short
            choice = [size for size in choice if size // CHUNK == chunks]
        chosen += (pick(draw, choice),)
    fields: dict[str, Any] = dict(zip(permitted_sizes.axes, chosen, strict=True))
    for item in variant.inputs:
        value = draw(kinds(item, item.name in without))
        if value is not None:
            fields[drawn.field_of(variant, item)] = value
    if "initial_state" not in without and draw(st.booleans()):
        fields["initial_state"] = "drawn"
    seed = draw(st.integers(0, SEEDS - 1))
    return example(variant, drawn.scenario(fields | ({"seed": seed} if seed else {})))


def pick(draw: Any, choice: list[int]) -> int:
    """Drawn also where there is but one: what follows keeps its place when it shrinks."""
    return draw(st.sampled_from(choice * 2 if len(choice) == 1 else choice))


@lru_cache(maxsize=1024)
def kinds(item: Input, fixed: bool) -> st.SearchStrategy:
    """What an input may be, the plainest first; None: typical values, or its default."""
    if fixed:
        constants: dict[float | None, str | None] = {0: "zero", 1: "one"}
        return st.just(constants.get(item.neutral) if item.axes else item.neutral)
    others = ALTERNATIVES.get(item.typical, ()) if item.axes else NUMBERS
    suitable = st.sampled_from([x for x in others if inside(item, x)]) if others else st.none()
    return suitable if not item.axes and item.default is None else st.none() | suitable


def inside(item: Input, value: Any) -> bool:
    """Whether a number, or all values of a kind, lie in the domain of the input."""
    if value == "mixed":
        return all(inside(item, kind) for kind in drawn.MIXED)
    if isinstance(value, str):
        dims = dict.fromkeys(("B", "T", "Hq", "Hk", "Hv", *item.axes.split()), 6)
        value = drawn.draw(item, value, dims, key_of(item.name)).array()
    if item.domain is None:
        return bool(np.all(np.isfinite(value)))
    low, high = item.domain
    return bool(np.all((value >= low) & (value <= high)))


@dataclass(frozen=True)
class Sizes:
    """From which sizes the axes of a case may choose, and what they must satisfy together."""

    axes: tuple[str, ...]
    choices: tuple[tuple[int, ...], ...]
    accepts: str
    work: int = WORK

    def choice(self, begun: tuple[int, ...]) -> list[int]:
        """Of the next axis: only what leaves something for the others, so that nothing is drawn in vain."""
        return [size for size in self.choices[len(begun)] if possible(self, (*begun, size))]

    def allowed(self, begun: tuple[int, ...]) -> bool:
        """As far as that is known already."""
        dims = dict(zip(self.axes, begun, strict=False))
        known = (code for names, code in clauses(self.accepts) if names <= dims.keys())
        return prod(begun) * dims.get("T", 1) <= self.work and all(eval(c, {"__builtins__": {}}, dims) for c in known)


@lru_cache(maxsize=2**16)
def possible(sizes: Sizes, begun: tuple[int, ...]) -> bool:
    """Whether sizes that begin so can be completed."""
    if len(begun) == len(sizes.axes) or not sizes.allowed(begun):
        return sizes.allowed(begun)
    return any(possible(sizes, (*begun, size)) for size in sizes.choices[len(begun)])


@lru_cache(maxsize=64)
def clauses(accepts: str) -> tuple[tuple[frozenset[str], Any], ...]:
    """The names in each part of a condition that must hold, and its code."""
    parts: list[ast.expr] = [ast.parse(f"({HEADS}) and ({accepts.strip() or True})", mode="eval").body]
    while both := next((part for part in parts if isinstance(part, ast.BoolOp) and isinstance(part.op, ast.And)), None):
        parts = [part for part in parts if part is not both] + both.values
    return tuple(
        (
            frozenset(node.id for node in ast.walk(part) if isinstance(node, ast.Name)),
            compile(ast.Expression(part), "accepts", "eval"),
        )
        for part in parts
    )


def permitted(variant: Variant, accepts: str, own: Mapping[str, Sequence[int]]) -> Sizes:
    """The sizes of a variant. Raises ``ValueError`` where none satisfy the condition."""
    axes = drawn.axes_of(variant)
    if unknown := set(own) - set(axes):
        raise ValueError(f"{variant.name} has no axis {', '.join(sorted(unknown))}; it has {', '.join(axes)}")
    choices = tuple(tuple(own.get(axis, USUAL.get(axis, FEW))) for axis in axes)
    accepts = " and ".join(f"({condition})" for condition in (variant.sizes, accepts) if condition.strip())
    for work in (WORK, 2**4 * WORK, 2**8 * WORK):
        if possible(found := Sizes(axes, choices, accepts, work), ()):
            return found
    raise ValueError(f"no sizes of {dict(zip(axes, choices, strict=True))} satisfy {accepts}")
