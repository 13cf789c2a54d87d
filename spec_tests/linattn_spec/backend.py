"""Backends: an implementation, described in a few lines so that the suite can call it under its own conventions.

    backend = Backend("mylib", version=mylib.__version__, array="torch", profiles=("fp32", "bf16"), state="VK")

    @backend.implements("gated_delta_rule", form="chunkwise", accepts="K in (64, 128)")
    def _(q, k, v, log_decay, beta, scale, initial_state):
        return mylib.chunk_gdn(q, k, v, log_decay, beta, scale=scale, initial_state=initial_state)

Everything is passed by keyword under the names of the variant's record. The signature is the list of capabilities:
an input that the function does not name is legal only at its default or neutral value. It returns ``(output,
final_state)``, the state a tuple where the variant has several tensors; ``(output, None)`` where it offers no
state, and the output alone in the bidirectional form.

Beside ``initial_state`` it may name two more arguments that are no inputs. ``chunk_size`` needs a default, with which
it is called but where a law sets it; ``accepts`` knows it as C. ``cu_seqlens`` is None, or [0, t1, ..., T] as an array
of integers (64 bits; 32 for jax and mlx): with B = 1, sequences are packed along T, and ``initial_state`` and
``final_state`` have one entry per sequence in place of the batch. A cache that grows is then None on both sides.
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from linattn.record import FORMS
from linattn.variants import variant as find_variant
from linattn_spec.autograd import autograd
from linattn_spec.function import CONTROLS, Conventions, Function, Unsupported
from linattn_spec.profiles import Profile, profile

__all__ = ["Backend", "Conventions", "Function", "Unsupported"]

CLAIMS = ("deterministic", "batch-invariant", "prefix-invariant")


@dataclass
class Backend:
    """An implementation to be judged. Gates below ``log_decay_range`` may fail: that is a limit, named as such."""

    name: str
    version: str = ""
    array: str = "numpy"  # "torch", "jax" or "mlx": the suite converts
    profiles: Sequence[str | Profile] = ("fp32",)
    layout: str = "BTHD"
    state: str = "KV"
    gate: str = "log"
    heads: str = "repeat"
    log_decay_range: float = -20.0
    claims: Sequence[str] = ()  # properties in bits that it promises: any of ``CLAIMS``
    functions: list[Function] = field(default_factory=list)

    def __post_init__(self) -> None:
        unknown = [claim for claim in self.claims if claim not in CLAIMS]
        if unknown:
            raise ValueError(f"claims must be of {', '.join(CLAIMS)}; got {', '.join(map(repr, unknown))}")

    def implements(
        self,
        variant: str,
        form: str,
        accepts: str = "",
        profiles: Sequence[str | Profile] | None = None,
        label: str = "",
        snippet: str = "",
        vjp: str = "",
        without: tuple[str, ...] = (),
        **conventions: str,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function; conventions given here override the backend's. ``vjp="autograd"``: the framework derives
        the backward pass, which gives no gradient by the arguments ``without``.
        """
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}; got {form!r}")
        record = find_variant(variant)
        own = Conventions(**{item.name: getattr(self, item.name) for item in fields(Conventions)})
        promised = tuple(profile(name) for name in (self.profiles if profiles is None else profiles))

        def register(call: Callable[..., Any]) -> Callable[..., Any]:
            function = Function(
                variant,
                form,
                call,
                accepts,
                replace(own, **conventions),
                promised,
                label,
                autograd(self.array, call) if vjp == "autograd" else None,
                without,
                snippet,
            )
            unknown = set(function.parameters) - {item.name for item in record.inputs} - set(CONTROLS)
            if unknown:
                raise ValueError(f"{variant} has no input {', '.join(sorted(unknown))}; see linattn explain {variant}")
            if "chunk_size" in function.parameters and function.chunk_size is inspect.Parameter.empty:
                raise ValueError(f"chunk_size of {variant} {function.column} must have a default; got none")
            if any((f.variant, f.column) == (variant, function.column) for f in self.functions):
                raise ValueError(f"{self.name} implements {variant} {function.column} twice; give one of them a label")
            self.functions.append(function)
            return call

        return register

    def vjp(
        self, variant: str, form: str, label: str = "", without: tuple[str, ...] = ()
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the backward pass of a function that is registered already.

        ``vjp(output_cotangent, final_state_cotangent, **arguments)`` returns a mapping from the name of every array
        among the arguments to the gradient by it, shaped as the argument. A cotangent is None where the loss does not
        depend on that result.
        """
        column = f"{form}.{label}" if label else form

        def register(call: Callable[..., Any]) -> Callable[..., Any]:
            function = self.function(variant, column)
            self.functions[self.functions.index(function)] = replace(function, vjp=call, without=without)
            return call

        return register

    def function(self, variant: str, column: str) -> Function:
        for function in self.functions:
            if (function.variant, function.column) == (variant, column):
                return function
        raise ValueError(f"{self.name} does not implement {variant} {column}")
