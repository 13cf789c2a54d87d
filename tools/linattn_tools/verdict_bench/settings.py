"""What kernels are tried on: variants, forms, sizes and inputs, all from one number."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

import linattn_golden
from linattn.record import Input, Variant
from linattn.variants import VARIANTS
from linattn_golden import Case
from linattn_spec import drawn
from linattn_spec.emulated import Kernel, kernels
from linattn_spec.mistakes.record import Call, call_of
from linattn_spec.parts import uses
from linattn_spec.ways import channels, is_log_decay, strongest_gate

TOKENS = (7, 16, 33, 64, 64, 100, 128, 150)
WIDTHS = (1, 2, 3, 4, 8, 16, 24, 32)
FEW = {"J": (1, 2, 3), "L": (1, 3, 6, 10), "R": (1, 2, 4), "W": (1, 2, 3, 4)}  # of axes that are never wide
WIDE, SHORT = (64, 128), (16, 64)  # in few settings: they take longest
OFTEN_WIDE = 0.08
LONG = {4096: 0.025, 1024: 0.025}  # in how many of the settings
NARROW = (8, 16)  # where sequences are long
SIGNS = ("bell", "positive")  # positive sums grow, those of both signs bring normalisers near zero
UNIT_KEYS = ("unit", "unit", "short-unit")
GATES = ("slow", "slow", "mild", "medium-f32", "strong", "spike-f32", "reset", "zero")
CONSTANT_GATES = ("slow", "slow", "mild", "medium-f32", "zero")
STRENGTHS = ("strength", "strength-to-2", "one")
SHARES = ("strength", "strength", "one")
NUMBERS = {"scale": (1.0, 0.25, 2.0), "eps": (0.0, 2.0**-20)}


@dataclass(frozen=True)
class Setting:
    """A variant in a form, on a drawn case that a correct implementation must compute within the limits."""

    number: int
    variant: Variant
    form: str
    case: Case

    @property
    def tokens(self) -> int:
        return self.case.dims["T"]

    @property
    def is_long(self) -> bool:
        return self.tokens in LONG

    @cached_property
    def call(self) -> Call:
        data = linattn_golden.load(self.case)
        return call_of(self.variant, self.form, data.inputs, data.initial_state)

    @cached_property
    def kernels(self) -> list[Kernel]:
        return kernels(self.variant, self.form, self.tokens, strongest_gate(self.variant, self.call.inputs))


def enough(runs: int, profiles: int) -> Iterator[Setting]:
    """The first settings whose kernels make that many runs in that many profiles."""
    for number in count():
        if runs <= 0:
            return
        yield (one := setting(number))
        runs -= profiles * len(one.kernels)


def setting(number: int) -> Setting:
    """The same one for a number on every machine. As many in a row as there are variants are all of them."""
    chance = random.Random(number)
    variant = VARIANTS[number % len(VARIANTS)]
    form = variant.forms[number // len(VARIANTS) % len(variant.forms)]
    tokens = chance.choices([*LONG, 0], [*LONG.values(), 1 - sum(LONG.values())])[0]
    if form == "bidirectional" or (form == "parallel" and not at_once(variant)):
        tokens = 0
    fields = sizes(chance, variant, tokens) | dict(draws(chance, variant))
    start = {"initial_state": "drawn"} if chance.random() < 0.5 else {}
    return Setting(number, variant, form, drawn.case(variant, drawn.scenario(fields | start | {"seed": number})))


def at_once(variant: Variant) -> bool:
    """Whether anybody takes thousands of tokens at once: not of a delta rule, nor with weights of many kinds."""
    many = channels(variant, dict.fromkeys(drawn.axes_of(variant), 2)) > 1
    return not (many or uses(variant, "unit_lower_solve") or uses(variant, "over_levels"))


def sizes(chance: random.Random, variant: Variant, tokens: int) -> dict[str, int]:
    square = any(item.axes.endswith("K K") for item in variant.state)
    lengths, widths = (SHORT, WIDE) if chance.random() < OFTEN_WIDE and not square else (TOKENS, WIDTHS)
    heads = 1 if tokens else 2
    common = {"B": 1, "T": tokens or chance.choice(lengths), "Hq": heads, "Hk": heads, "Hv": heads}
    own = drawn.axes_of(variant)[len(drawn.COMMON) :]
    while True:
        found = common | {axis: chance.choice(FEW.get(axis, NARROW if tokens else widths)) for axis in own}
        if variant.fits(found):
            return found


def draws(chance: random.Random, variant: Variant) -> Iterator[tuple[str, Any]]:
    """The names of draws. What a variant has of its own is drawn as is typical of it."""
    sign, keys = chance.choice(SIGNS), chance.choice(UNIT_KEYS)
    for item in variant.inputs:
        choice = choices(item, sign, keys)
        if choice and (item.axes or chance.random() < 0.5):
            yield drawn.field_of(variant, item), chance.choice(choice)


def choices(item: Input, sign: str, keys: str) -> tuple[Any, ...]:
    if item.name in NUMBERS:
        low = (item.domain or (-np.inf, np.inf))[0]
        numbers = (number for number in NUMBERS[item.name] if number >= low)
        return tuple(number for number in numbers if number or not item.default)  # a norm of zeros needs its eps
    if item.axes in ("V V", "D D"):
        return ("unit",)  # larger matrices make a recurrence chaotic: nothing is determined after some tokens
    if is_log_decay(item):
        return CONSTANT_GATES if item.time is None else GATES
    if item.role == "data" and item.typical in ("bell", "positive", "unit"):
        return (keys if item.typical == "unit" else sign,)
    if item.typical == "strength" and item.domain:
        return STRENGTHS if item.domain[1] > 1 else SHARES
    return ()
