"""The record of a mistake, and the few ways in which an implementation goes wrong.

A mistake is an executable wrong version of the reference, generic over the variants to which it applies. It takes a
``Call`` and returns results as an implementation would; on float64 it is a signature, in the precision of a backend
it is a mutant.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linattn import forms, heads, validate
from linattn.record import FORMS, Variant
from linattn_spec.mistakes.small import runs

Array = Any
Results = dict[str, Array]  # "output" and "final_state/NAME"
CHUNK = 16
CAUSAL = tuple(form for form in FORMS if form != "bidirectional")


@dataclass(frozen=True)
class Call:
    """A call of an implementation: all inputs and the state, complete, in the reference layout (B, H, ...).

    The bidirectional form has no state.
    """

    variant: Variant
    form: str
    inputs: dict[str, Array]
    state: tuple


@dataclass(frozen=True)
class Mistake:
    """One way to be wrong. ``needs`` are inputs, states and other traits that a variant must have (see ``traits``),
    ``seen_by`` the kinds of checks that must reject it. What is wrong with the call itself, not with its results, is
    made by ``around``, given the right function and the arguments.
    """

    id: str
    kind: str
    sentence: str
    wrong: Callable[[Call], Results]
    needs: tuple[str, ...] = ()
    forms: tuple[str, ...] = FORMS
    profiles: tuple[str, ...] = ("fp32", "bf16", "fp16")
    seen_in: tuple[str, ...] = ()
    seen_by: tuple[str, ...] = ("golden",)
    around: Callable[[Callable[..., Any], dict[str, Any]], Any] | None = None

    def applies(self, variant: Variant, form: str) -> bool:
        """Where it has what it needs, and can be made: variants to come may look alike and work otherwise."""
        has = form in self.forms and form in variant.forms and set(self.needs) <= traits(variant)
        return has and runs(self.wrong, variant, form, call_of)


def traits(variant: Variant) -> set[str]:
    """The names of inputs and states, and what else a mistake may need."""
    found = {item.name for item in variant.inputs} | {item.name for item in variant.state}
    found |= {f"{item.name} per token" for item in variant.inputs if item.time is not None}
    found |= {f"{item.name} per channel" for item in variant.inputs if item.axes in ("T K", "T D")}
    found |= {f"{item.name} per value channel" for item in variant.inputs if item.axes == "T V"}
    found |= {"scale below 1" for item in variant.inputs if item.name == "scale" and isinstance(item.default, str)}
    found |= {f"read {variant.read}"} | ({"no k"} if not variant.has("k") else set())
    found |= {"bidirectional"} if variant.bidirectional else set()
    found |= {"grouped heads"} if len({item.heads for item in variant.inputs} - {"none"}) > 1 else set()
    of_tokens = any("P" in item.axes.split() or item.name == "window" for item in variant.state)
    found |= {"fixed state"} if not of_tokens else set()
    found |= {"no beta"} if not variant.has("beta") else set()
    plain = {item.name for item in variant.inputs} <= {"q", "k", "v", "log_decay", "beta", "scale"}
    found |= {"outer products"} if plain and len(variant.state) == 1 and variant.erase in (None, "decayed") else set()
    found |= {variant.name} | ({"linear"} if variant.linear_in else set())
    return found | {f"erase {variant.erase}"} | {"matrix state" if len(variant.state) == 1 else "several states"}


def call_of(variant: Variant, form: str, inputs: dict[str, Any], state: tuple | None) -> Call:
    """Defaults filled in, a missing state at its initial value."""
    complete, sizes = validate.complete(variant, inputs)
    if form == "bidirectional":
        return Call(variant, form, complete, ())
    arranged = heads.arrange(variant, complete)
    start = validate.complete_state(variant, state, arranged, sizes)
    merged = tuple(heads.joined(x, item.axes, arranged.groups) for x, item in zip(start, variant.state, strict=True))
    return Call(variant, form, complete, merged)


def right(call: Call) -> Results:
    """What a correct implementation returns, in the arithmetic of the arrays."""
    arranged = heads.arrange(call.variant, call.inputs)
    own = zip(call.state, call.variant.state, strict=bool(call.state))
    cores = (x.shape[x.ndim - len(item.axes.split()) :] for x, item in own)
    state = tuple(x.reshape(arranged.leading + core) for x, core in zip(call.state, cores, strict=True))
    state, output = forms.run(call.variant, call.form, state, arranged.inputs, CHUNK)
    state, output = heads.merge(call.variant, state, output, arranged.groups)
    final = zip(call.variant.state, state, strict=bool(state))
    return {"output": output} | {f"final_state/{item.name}": x for item, x in final}


# -- ways to be wrong --------------------------------------------------------------------------------------------------


def with_inputs(**change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    """Inputs are taken for something else: ``name=function(value, call)``."""

    def wrong(call: Call) -> Results:
        changed = {name: function(call.inputs[name], call) for name, function in change.items() if name in call.inputs}
        if not changed:
            raise KeyError(f"{call.variant.name} has no input {', '.join(change)}")
        return right(replace(call, inputs={**call.inputs, **changed}))

    return wrong


def with_state(change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    """The incoming state is taken for something else: every tensor of it."""
    return lambda call: right(replace(call, state=tuple(change(x, call) for x in has_state(call).state)))


def with_output(change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    """The outputs are changed on their way out, the state is right."""

    def wrong(call: Call) -> Results:
        results = right(call)
        return {**results, "output": change(results["output"], call)}

    return wrong


def with_final_state(change: Callable[[Array, Call], Array]) -> Callable[[Call], Results]:
    """The final state is changed on its way out, the outputs are right."""

    def wrong(call: Call) -> Results:
        results = right(has_state(call))
        return {name: x if name == "output" else change(x, call) for name, x in results.items()}

    return wrong


def has_state(call: Call) -> Call:
    if not call.state:
        raise TypeError(f"the {call.form} form has no state")
    return call


def with_step(step: Callable[..., Any]) -> Callable[[Call], Results]:
    """Another recurrence: ``step(right_step, state, token) -> (state, output)``."""

    def wrong(call: Call) -> Results:
        def changed(*state: Array, **token: Array) -> Any:
            return step(call.variant.step, state, token)

        return right(replace(call, variant=replace(call.variant, step=changed), form="recurrent"))

    return wrong


def with_chunks(fold: Callable[..., Any]) -> Callable[[Call], Results]:
    """Another fold over chunks: ``fold(call, state, chunks) -> (state, outputs)``."""

    def wrong(call: Call) -> Results:
        full = with_all_heads(call)
        windows = [slice(t, t + CHUNK) for t in range(0, forms.length(call.variant, call.inputs), CHUNK)]
        state, outputs = fold(full, windows)
        shared = full.state[0].shape[1] // call.state[0].shape[1]
        names = [f"final_state/{item.name}" for item in call.variant.state]
        return {"output": np.concatenate(outputs, axis=2)} | {
            n: x[:, ::shared] for n, x in zip(names, state, strict=True)
        }

    return wrong


def with_all_heads(call: Call, repeat: Callable[[Array, int, int], Array] = np.repeat) -> Call:
    """Grouped heads repeated, so that what follows need not know of them."""
    counts = {item.name: (1 if item.time is not None else 0) for item in call.variant.inputs if item.heads != "none"}
    heads = max(call.inputs[name].shape[axis] for name, axis in counts.items())

    def full(x: Array, axis: int) -> Array:
        return repeat(x, heads // x.shape[axis], axis)

    inputs = {**call.inputs, **{name: full(call.inputs[name], axis) for name, axis in counts.items()}}
    return replace(call, inputs=inputs, state=tuple(full(x, 1) for x in call.state))


def piece(call: Call, window: slice, state: tuple) -> tuple[tuple, Array]:
    """A chunk of the sequence from a state: its final state and its outputs."""
    results = right(replace(call, inputs=forms.take(call.variant, call.inputs, window), state=state))
    return tuple(x for name, x in results.items() if name != "output"), results["output"]
