"""The edges of the lattice as identities: what a variant is under a restriction, and what it only looks like."""

import importlib.util
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import linattn_golden
from linattn import flat, forms
from linattn.lattice import EDGES, LOOKALIKES, MEETINGS, Edge
from linattn.record import Variant
from linattn.variants import variant as find
from linattn_spec import drawn
from linattn_tools.identities import Identity

SIZES = {"B": 1, "T": 5, "Hq": 1, "Hk": 1, "Hv": 1, "K": 4, "V": 3}
CAN_CERTIFY = importlib.util.find_spec("flint") is not None


@dataclass(frozen=True)
class Certified:
    """An identity that needs an order, or more of the exponential than the field has: both ends give the same bytes."""

    edge: Edge
    variant: Variant

    @property
    def name(self) -> str:
        return f"{self.edge}, in certified bytes"

    def holds(self, rng: random.Random) -> bool:
        from linattn.numbers import ball

        numbers = draw(self.variant, rng.randrange(2**32))
        left, right = (ball.certify(partial(self.computed, side), numbers)[0] for side in (special, general))
        return left.keys() == right.keys() and all(left[name].tobytes() == right[name].tobytes() for name in left)

    def computed(self, side: Callable[..., Any], numbers: Mapping[str, Any]) -> dict[str, Any]:
        state = tuple(numbers[f"initial_state/{item.name}"] for item in self.variant.state)
        final, output = side(self.edge, self.variant, state, {i.name: numbers[i.name] for i in self.variant.inputs})
        return {"output": output} | {str(n): x for n, x in enumerate(final)}


def of(variant: Variant) -> Iterator[Identity | Certified]:
    """What this variant is under a restriction."""
    for edge in (*EDGES, *MEETINGS):
        if edge.special == variant.name and (edge.proof == "field" or CAN_CERTIFY):
            yield identity(edge, variant) if edge.proof == "field" else Certified(edge, variant)


def lookalikes(variant: Variant) -> Iterator[Identity]:
    """What this variant is often taken for, and must not be: its outputs are others."""
    return (identity(replace(edge, state_back=None), variant) for edge in LOOKALIKES if edge.special == variant.name)


def identity(edge: Edge, variant: Variant) -> Identity:
    return Identity(str(edge), variant, partial(special, edge, variant), partial(general, edge, variant))


def special(edge: Edge, variant: Variant, state: tuple, inputs: Mapping[str, Any]) -> Any:
    final, output = forms.recurrent(variant, *edge.where(state, dict(inputs)))
    return (final if edge.state_back else ()), output


def general(edge: Edge, variant: Variant, state: tuple, inputs: Mapping[str, Any]) -> Any:
    run = partial(forms.recurrent, find(edge.general))
    return edge.through(run, *edge.where(state, dict(inputs)))


def draw(variant: Variant, seed: int) -> dict[str, Any]:
    """Numbers of the typical kind and a state, by name."""
    sizes = drawn.all_sizes(variant, SIZES)
    fields = {"T": SIZES["T"], **{axis: sizes[axis] for axis in drawn.axes_of(variant)}, "initial_state": "drawn"}
    data = linattn_golden.load(drawn.case(variant, drawn.scenario(fields | {"seed": seed})))
    return flat.complete(variant, data.inputs, data.initial_state)
