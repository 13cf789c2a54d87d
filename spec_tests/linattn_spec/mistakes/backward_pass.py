"""The record of a mistake in a backward pass whose forward pass is right, and the few ways in which it goes wrong.

A mistake takes a ``Backward`` and returns gradients as an implementation would: on float64 it is a signature, in the
precision of a backend it is a mutant.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linattn import flat
from linattn.numbers import tape
from linattn.numbers.tape import Traced
from linattn.record import Variant
from linattn_spec.mistakes.record import traits
from linattn_spec.mistakes.small import runs

Array = Any
Gradients = dict[str, Array]
CHUNK = 16


@dataclass(frozen=True)
class Backward:
    """A backward pass: all inputs and the state, complete, and the cotangents of those results that the loss sees."""

    variant: Variant
    numbers: Mapping[str, Array]
    cotangents: Mapping[str, Array]


@dataclass(frozen=True)
class GradientMistake:
    """One way to be wrong. ``needs`` are the traits of a variant (see ``record.traits``)."""

    id: str
    sentence: str
    wrong: Callable[[Backward], Gradients]
    needs: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ("fp32", "bf16", "fp16")
    seen_in: tuple[str, ...] = ()
    kind: str = "gradient"
    forms: tuple[str, ...] = ("recurrent",)  # the backward pass of which is made wrong
    seen_by: tuple[str, ...] = ("gradient", "gradient-output", "gradient-state")  # one of these must reject it

    def applies(self, variant: Variant, form: str = "recurrent") -> bool:
        has = form in self.forms and set(self.needs) <= traits(variant)
        return has and runs(self.wrong, variant, form, backward_of)


def backward_of(variant: Variant, form: str, inputs: dict[str, Array], state: tuple | None) -> Backward:
    """A backward pass from cotangents of ones."""
    numbers = flat.complete(variant, inputs, state)
    results = flat.compute(variant, numbers, form)
    return Backward(variant, numbers, {name: np.ones_like(x) for name, x in results.items()})


def right(backward: Backward) -> Gradients:
    """What a correct backward pass returns, in the arithmetic of the arrays."""
    return tape.gradients(
        lambda x: flat.compute(backward.variant, x, "recurrent"), backward.numbers, backward.cotangents
    )


# -- ways to be wrong --------------------------------------------------------------------------------------------------


def with_gradients(**change: Callable[[Array, Backward], Array]) -> Callable[[Backward], Gradients]:
    """Gradients are changed on their way out: ``name=function(gradient, backward)``; ``S`` is the initial state."""

    def wrong(backward: Backward) -> Gradients:
        found = right(backward)
        places = {name: f"initial_state/{name}" if name not in found else name for name in change}
        return found | {places[name]: function(found[places[name]], backward) for name, function in change.items()}

    return wrong


def with_step(step: Callable[..., Any], *names: str) -> Callable[[Backward], Gradients]:
    """Gradients by ``names``, or by everything, as of another recurrence: ``step(right_step, state, token)``."""

    def wrong(backward: Backward) -> Gradients:
        def changed(*state: Array, **token: Array) -> Any:
            return step(backward.variant.step, state, token)

        other = right(replace(backward, variant=replace(backward.variant, step=changed)))
        return other if not names else right(backward) | {name: other[name] for name in names}

    return wrong


def constant(x: Array) -> Array:
    """The same values, through which no gradient flows."""
    return x.value if isinstance(x, Traced) else x


def without(*results: str) -> Callable[[Backward], Gradients]:
    """The loss is taken to depend on less: "output" or "final_state"."""

    def wrong(backward: Backward) -> Gradients:
        kept = {n: 0 * g if n.split("/")[0] in results else g for n, g in backward.cotangents.items()}
        return right(replace(backward, cotangents=kept))

    return wrong
