"""The record of an edge of the lattice, and the maps of inputs and states that edges share."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn.algebra import transpose

Inputs = dict[str, Any]
Point = tuple[tuple, Inputs]  # a state and inputs
Pair = tuple[tuple, Any]  # a final state and the outputs


@dataclass(frozen=True)
class Edge:
    """``special`` is ``general`` with ``restriction``. Without ``state_back`` the final state is another.

    ``where`` restricts the special end too, and ``given`` says how: then neither contains the other, and they meet.
    """

    special: str
    general: str
    restriction: str
    into: Callable[[tuple, Inputs], Point]
    output_back: Callable[[Any, Inputs], Any] = lambda output, inputs: output
    state_back: Callable[[tuple], tuple] | None = lambda state: state
    where: Callable[[tuple, Inputs], Point] = lambda state, inputs: (state, inputs)
    given: str = ""
    proof: str = "field"  # "bytes": by certified numbers, where it needs an order or the exponential of a number

    def __str__(self) -> str:
        """What the special variant is."""
        return f"{self.general} with {self.restriction}" + (f", where {self.given}" if self.given else "")

    def through(self, run: Callable[[tuple, Inputs], Pair], state: tuple, inputs: Inputs) -> Pair:
        """The results of the special variant by ``run``, a way to compute the general one."""
        final, output = run(*self.into(state, inputs))
        return self.state_back(final) if self.state_back and final else (), self.output_back(output, inputs)


def adding(drop: str = "", **new: Callable[[Inputs], Any]) -> Callable[[tuple, Inputs], Point]:
    """The same state; inputs computed from those of the special variant, of which one may be dropped."""

    def into(state: tuple, inputs: Inputs) -> Point:
        kept = {name: x for name, x in inputs.items() if name != drop}
        return state, kept | {name: make(inputs) for name, make in new.items()}

    return into


def of(*names: str, **new: Callable[[Inputs], Any]) -> Callable[[tuple, Inputs], Point]:
    """The same state; the inputs of these names, and others that are computed from all."""
    return lambda state, x: (state, {name: x[name] for name in names} | {name: make(x) for name, make in new.items()})


class Logarithm:
    """The logarithm of a number of the field: nothing is known of it but its exponential, which is all that decays."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number = number

    def exp(self) -> Any:
        return self.number


def log_decay_of(decay: Any) -> Any:
    """That of 0 is -inf."""
    if decay.dtype == object:
        return np.frompyfunc(lambda x: Logarithm(x) if hasattr(x, "unordered") else x.log(), 1, 1)(decay)
    with np.errstate(divide="ignore"):
        return np.log(decay)


def per_token(number: float) -> Callable[[Inputs], Any]:
    return lambda inputs: np.full((*inputs["v"].shape[:-1], 1), float(number))


def per_head(number: float) -> Callable[[Inputs], Any]:
    return lambda inputs: np.full((*inputs["v"].shape[-3:-2], 1), float(number))


def per_channel(number: float, name: str) -> Callable[[Inputs], Any]:
    """One number in every key channel (for "k") or value channel (for "v") of every head."""
    return lambda inputs: np.full((*inputs[name].shape[:-2], inputs[name].shape[-1]), number)


def for_every_token(inputs: Inputs) -> Any:
    """The decay of a head at each of its tokens."""
    return np.broadcast_to(inputs["log_decay"][..., None, :], (*inputs["v"].shape[:-1], 1))


def for_every_channel(inputs: Inputs) -> Any:
    """The decay of a token in each key channel."""
    return np.repeat(inputs["log_decay"], inputs["k"].shape[-1], axis=-1)


def later(x: Any, zero: Any) -> Any:
    """Every token has that of the one before it, the first one 0 in the numbers of ``zero``."""
    return np.concatenate([0 * zero[..., :1, :], x[..., :-1, :]], axis=-2)


def with_ones(state: tuple, inputs: Inputs) -> Point:
    """The normaliser is the sum of one more value, which is 1."""
    S, z = state
    v = np.concatenate([inputs["v"], per_token(1)(inputs)], axis=-1)
    return (np.concatenate([S, z[..., None]], axis=-1),), {"q": inputs["q"], "k": inputs["k"], "v": v, "scale": 1}


def over_the_ones(output: Any, inputs: Inputs) -> Any:
    return output[..., :-1] / (output[..., -1:] + inputs["eps"])


def split_ones(state: tuple) -> tuple:
    (S,) = state
    return S[..., :-1], S[..., -1]


def exponential_kernel(state: tuple, inputs: Inputs) -> Point:
    """A channel for every key, which is one-hot there; a query is the vector of its weights."""
    keys, values = state
    past, tokens = keys.shape[-2], inputs["k"].shape[-2]
    leading = keys.shape[:-2]
    q = np.exp(inputs["scale"] * (inputs["q"] @ transpose(np.concatenate([keys, inputs["k"]], axis=-2))))
    one_hot = np.broadcast_to(np.eye(past + tokens)[past:], (*leading, tokens, past + tokens))
    S = np.concatenate([values, 0 * inputs["v"]], axis=-2)
    z = np.broadcast_to(np.arange(past + tokens) < past, S.shape[:-1]).astype(float)
    return (S, z), {"q": q, "k": one_hot, "v": inputs["v"], "eps": 0}
