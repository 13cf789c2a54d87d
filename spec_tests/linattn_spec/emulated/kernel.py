"""A kernel: the forms of the reference in emulated arithmetic, with all the freedom that an implementation has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linattn import forms
from linattn.record import Variant
from linattn_spec import relative
from linattn_spec.emulated.array import Arithmetic, emulated, rounded
from linattn_spec.frameworks import typed
from linattn_spec.parts import with_parts
from linattn_spec.profiles import Profile

Results = dict[str, np.ndarray]


@dataclass(frozen=True)
class Kernel:
    """How an implementation computes. Bits that are 0 are those of the profile."""

    name: str
    chunk: int = 0  # 0: token by token
    order: str = ""  # of the terms of a sum: "forwards" or "backwards", one by one; "": as NumPy pleases
    parts: tuple[tuple[str, Callable[..., Any]], ...] = ()  # of the closed form, other than its own
    step: Callable[..., Any] | None = None  # None: that of the record
    route: int | None = None  # of the two to the bidirectional form; None: a causal form
    scaled_queries: bool = False  # the scale multiplies the queries, not what they read
    fused: bool = False  # nothing is rounded but operands of contractions, and the state after each token
    bits: int = 0  # of every result
    operand_bits: int = 0  # of contractions
    state_bits: int = 0  # that are kept from one token to the next

    def __call__(self, variant: Variant, profile: Profile, inputs: Mapping[str, Any], state: tuple) -> Results:
        """The results as stored, by the names of the verdict."""
        return stored(profile, self.computed(variant, profile, inputs, state))

    def computed(self, variant: Variant, profile: Profile, inputs: Mapping[str, Any], state: tuple) -> Results:
        """The results before they are stored; states by what they stand for."""
        arithmetic = self.arithmetic(profile)
        arrays = {name: emulated(np.asarray(x, dtype=float), arithmetic) for name, x in inputs.items()}
        start = tuple(emulated(x, arithmetic) for x in state)
        if self.scaled_queries:
            arrays |= {"q": arrays["q"] * arrays["scale"], "scale": emulated(1.0, arithmetic)}
        state, output = self.run(self.exchanged(variant, profile), start, arrays)
        final = {f"final_state/{item.name}": x for item, x in zip(variant.state, state, strict=bool(state))}
        results = {name: np.asarray(x, dtype=float) for name, x in ({"output": output} | final).items()}
        return relative.absolute(variant, results)

    def run(self, variant: Variant, state: tuple, inputs: Mapping[str, Any]) -> tuple[tuple, Any]:
        if self.route is not None:
            return (), forms.bidirectional(variant, inputs, self.route)
        if self.chunk:
            return forms.chunkwise(variant, state, inputs, self.chunk)
        return forms.recurrent(variant, state, inputs)

    def arithmetic(self, profile: Profile) -> Arithmetic:
        bits = 53 if self.fused else self.bits or profile.bits
        return Arithmetic(
            np.float64 if bits > 24 else np.float32, self.operand_bits or profile.operand_bits, bits, self.order
        )

    def exchanged(self, variant: Variant, profile: Profile) -> Variant:
        """The same two functions with other ways to compute their parts."""
        step, bits = self.step or variant.step, profile.bits if self.fused else self.state_bits
        return replace(with_parts(variant, **dict(self.parts)), step=with_state_bits(step, bits) if bits else step)


def with_state_bits(step: Callable[..., Any], bits: int) -> Callable[..., Any]:
    def rounding(*state: Any, **token: Any) -> Any:
        state, output = step(*state, **token)
        return tuple(emulated(rounded(np.asarray(x), bits), x.arithmetic) for x in state), output

    return rounding


def stored(profile: Profile, results: Mapping[str, Any]) -> Results:
    """Rounded to the dtypes in which a profile exchanges them."""
    return {name: typed(x, profile.array if name == "output" else profile.state).values for name, x in results.items()}
