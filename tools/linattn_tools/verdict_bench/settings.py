"""What kernels are tried on: variants, forms, sizes and inputs, all from one number."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

import linattn_golden
from linattn.record import Variant
from linattn.variants import variant as find
from linattn_golden import Case
from linattn_spec import drawn
from linattn_spec.emulated import Kernel, kernels
from linattn_spec.mistakes.record import Call, call_of

CALIBRATED = tuple(
    find(name)
    for name in (
        "softmax_attention",
        "linear_attention",
        "normalised_linear_attention",
        "retention",
        "simple_gla",
        "gla",
        "delta_rule",
        "gated_delta_rule",
        "kda",
    )
)  # the variants of which the emulated kernels know all ways to compute them
TOKENS = (7, 16, 33, 64, 64, 100, 128, 150)
WIDTHS = (1, 2, 3, 4, 8, 16, 24, 32)
WIDE, SHORT = (64, 128), (16, 64)  # in few settings: they take longest
OFTEN_WIDE = 0.08
LONG = {40: 4096, 20: 1024}  # every 40th setting, every 20th
NARROW = (8, 16)  # where sequences are long
SIGNS = ("bell", "positive")  # positive sums grow, those of both signs bring normalisers near zero
UNIT_KEYS = ("unit", "unit", "short-unit")
GATES = ("slow", "slow", "mild", "medium-f32", "strong", "spike-f32", "reset", "zero")
CONSTANT_GATES = ("slow", "slow", "mild", "medium-f32", "zero")
STRENGTHS = ("strength", "strength-to-2", "one")
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
        return self.tokens in LONG.values()

    @cached_property
    def call(self) -> Call:
        data = linattn_golden.load(self.case)
        return call_of(self.variant, self.form, data.inputs, data.initial_state)

    @cached_property
    def kernels(self) -> list[Kernel]:
        strongest_gate = float(np.min(self.call.inputs.get("log_decay", 0.0)))
        return kernels(self.variant, self.form, self.tokens, strongest_gate)


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
    variant = CALIBRATED[number % len(CALIBRATED)]
    causal = [form for form in variant.forms if form != "bidirectional"]
    form = causal[number // len(CALIBRATED) % len(causal)]
    tokens = next((length for n, length in LONG.items() if number % n == n - 1), 0)
    if form == "parallel" and variant.has("beta"):
        tokens = 0  # nobody takes thousands of tokens of a delta rule at once
    fields = dict(sizes(chance, variant, tokens)) | dict(draws(chance, variant))
    start = {"initial_state": "drawn"} if chance.random() < 0.5 else {}
    return Setting(number, variant, form, drawn.case(variant, drawn.scenario(fields | start | {"seed": number})))


def sizes(chance: random.Random, variant: Variant, tokens: int) -> Iterator[tuple[str, int]]:
    lengths, widths = (SHORT, WIDE) if chance.random() < OFTEN_WIDE else (TOKENS, WIDTHS)
    heads = 1 if tokens else 2
    yield from {"B": 1, "T": tokens or chance.choice(lengths), "Hq": heads, "Hk": heads, "Hv": heads}.items()
    yield from (
        (axis, chance.choice(NARROW if tokens else widths)) for axis in drawn.axes_of(variant)[len(drawn.COMMON) :]
    )


def draws(chance: random.Random, variant: Variant) -> Iterator[tuple[str, Any]]:
    """The names of draws. What a variant has of its own is drawn as is typical of it."""
    sign = chance.choice(SIGNS)
    keys = chance.choice(UNIT_KEYS) if variant.has("beta") else sign
    names = {"q": sign, "k": keys, "v": sign, "beta": chance.choice(STRENGTHS)}
    for item in variant.inputs:
        if item.name == "log_decay":
            yield item.name, chance.choice(CONSTANT_GATES if item.time is None else GATES)
        elif item.name in names:
            yield item.name, names[item.name]
        elif item.name in NUMBERS and chance.random() < 0.5:
            yield item.name, chance.choice(NUMBERS[item.name])
