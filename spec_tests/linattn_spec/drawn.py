"""Drawn cases: their ids say all that they are made of.

    gated_delta_rule/drawn(B=1,T=17,Hq=2,Hk=1,Hv=1,K=5,V=1,log_decay=strong,scale=0.25,initial_state=drawn)

Every axis has its size. An input that is not named has its typical draw, a number its default; there is an initial
state where one is named, and ``seed=3`` tells apart cases that are otherwise the same. The values follow from the
text alone, on every machine.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn import forms, heads, validate
from linattn.numbers import lift
from linattn.record import Input, State, Variant
from linattn_golden import Case, Data
from linattn_golden.draws import DRAWS, Draw, key_of
from linattn_spec.backend import Unsupported

COMMON = ("B", "T", "Hq", "Hk", "Hv")
PAST = 3  # tokens in a cache that is handed over
OTHERS = 10  # the size of an axis that the suite knows nothing of
MIXED = ("mild", "strong", "zero", "slow", "never")
BITS = 256  # of the balls that stand for the truth where float64 itself is judged


@dataclass(frozen=True)
class Several(Draw):
    """A draw made of others: ``repeated``, one token over and over, or ``mixed``, other gates at each token."""

    typical: str = ""

    def array(self) -> np.ndarray:
        if self.draw == "repeated":
            whole = Draw(self.typical, self.shape, self.key, self.time).array()
            return np.repeat(np.take(whole, [0], axis=self.time), self.shape[self.time], axis=self.time)
        kinds = [Draw(name, self.shape, self.key, self.time).array() for name in MIXED]
        turn = Draw("strength", (*self.shape[:-1], 1), key_of(self.key)).array()  # may round to 1
        return np.choose(np.minimum(turn * len(MIXED), len(MIXED) - 1).astype(int), kinds)


SEVERAL = ("repeated", "mixed")


def is_drawn(scenario: str) -> bool:
    return scenario.startswith("drawn(")


def scenario(fields: Mapping[str, Any]) -> str:
    """The text of a case: ``{"B": 1, "T": 3, ..., "log_decay": "strong"}``."""
    return f"drawn({','.join(f'{name}={value}' for name, value in fields.items())})"


def tensors(variant: Variant) -> tuple[Input | State, ...]:
    return (*variant.inputs, *variant.state)


def axes_of(variant: Variant) -> tuple[str, ...]:
    """All axes that a case gives a size, those of the record in its order."""
    named = [axis for item in tensors(variant) for axis in item.axes.split()]
    own = dict.fromkeys(axis for axis in named if not axis.isdigit() and axis not in ("T", "P"))
    return (*COMMON, *own)


def all_sizes(variant: Variant, known: Mapping[str, int]) -> dict[str, int]:
    """Those known, and of every other axis of the record one that is unlike all others: more than keys and values."""
    others = [axis for axis in axes_of(variant) if axis not in (*known, *COMMON)]
    return {**known, **{axis: OTHERS + 2 * n for n, axis in enumerate(others)}}


def case(variant: Variant, text: str) -> Case:
    """The case that a scenario describes. Raises ``ValueError`` where it does not describe one of the variant."""
    fields = dict(parse(text))
    dims = {axis: size(axis, fields.pop(axis, "")) for axis in axes_of(variant)}
    seed = fields.pop("seed", "0")
    start = fields.pop("initial_state", None)
    numbers = {i.name: number(i.name, fields.pop(i.name)) for i in variant.inputs if not i.axes and i.name in fields}
    kinds = {i.name: known(i.name, fields.pop(field_of(variant, i), i.typical)) for i in variant.inputs if i.axes}
    if fields or start not in (None, "drawn"):
        raise ValueError(f"{text}: {variant.name} has no {', '.join(fields) or f'initial_state={start}'}")
    key = {item.name: key_of(f"{seed}/{item.name}") for item in tensors(variant)}
    state = {s.name: Draw(s.typical, state_shape(s.axes, dims), key[s.name]) for s in variant.state}
    return Case(
        id=f"{variant.name}/{text}",
        variant=variant.name,
        kind="recipe",
        why="drawn at random",
        dims=dims,
        numbers=numbers,
        inputs={i.name: draw(i, kinds[i.name], dims, key[i.name]) for i in variant.inputs if i.axes},
        initial_state=state if start else None,
    )


def field_of(variant: Variant, item: Input) -> str:
    """The name of an input in the text of a case: an axis may have its own, such as the D of S4D."""
    return f"input_{item.name}" if item.name in axes_of(variant) else item.name


def parse(text: str) -> Iterator[tuple[str, str]]:
    inside = re.fullmatch(r"drawn\((\w+=[\w.+-]+(?:,\w+=[\w.+-]+)*)\)", text)
    if not inside:
        raise ValueError(f"a drawn case must read drawn(B=1,T=3,...); got {text!r}")
    for field in inside[1].split(","):
        name, value = field.split("=")
        yield name, value


def size(axis: str, text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{axis} must be a whole number, at least 1; got {text!r}")
    return int(text)


def number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number; got {text!r}") from None


def known(name: str, draw: str) -> str:
    if draw not in (*DRAWS, *SEVERAL):
        raise ValueError(f"{name} must be one of {', '.join((*DRAWS, *SEVERAL))}; got {draw!r}")
    return draw


def draw(item: Input, kind: str, dims: Mapping[str, int], key: str) -> Draw:
    """(B, heads, T, D) for a sequence, (heads, D) for a parameter."""
    batch = ("B",) if item.time is not None else ()
    names = (*batch, f"H{item.heads}", *item.axes.split())
    shape = tuple(dims.get(axis, 1) if not axis.isdigit() else int(axis) for axis in names)
    time = -2 if item.time is None else item.time
    return Several(kind, shape, key, time, item.typical) if kind in SEVERAL else Draw(kind, shape, key, time)


def state_shape(axes: str, dims: Mapping[str, int]) -> tuple[int, ...]:
    sizes = {**dims, "P": PAST}
    return tuple(int(axis) if axis.isdigit() else sizes[axis] for axis in ("B", "Hv", *axes.split()))


def enclosed(variant: Variant, data: Data, form: str) -> dict[str, np.ndarray]:
    """The true results, for those who compute in float64 themselves: from rigorous balls of many bits."""
    try:
        from flint import ctx

        from linattn.numbers import ball
    except ModuleNotFoundError:
        raise Unsupported("float64 is judged by balls of more bits: pip install 'linattn[certify]'") from None
    arrays, sizes = validate.complete(variant, data.inputs)
    arranged = heads.arrange(variant, arrays)
    start = validate.complete_state(variant, data.initial_state, arranged, sizes)
    inputs = lift(ball.Ball, arranged.inputs)
    own = tuple(lift(ball.Ball, dict(enumerate(start))).values())  # type: ignore[arg-type]
    with ctx.workprec(BITS):
        causal = form != "bidirectional"
        results = forms.run(variant, "recurrent" if causal else form, own, inputs)
        state, output = heads.merge(variant, *results, arranged.groups)
        ends = [ball.bounds(x) for x in (output, *state)]
    if not all(np.allclose(low, high, rtol=2.0**-52, atol=2.0**-200) for low, high in ends):
        raise Unsupported("the balls of the true values are wider than float64: a denominator near 0")
    names = ("output", *(f"final_state/{item.name}" for item in variant.state))
    return dict(zip(names, (high for _, high in ends), strict=False))
