"""Backends: an implementation, described in a few lines so that the suite can call it under its own conventions.

    backend = Backend("mylib", version=mylib.__version__, array="torch", profiles=("fp32", "bf16"), state="VK")

    @backend.implements("gated_delta_rule", form="chunkwise", accepts="K in (64, 128)")
    def _(q, k, v, log_decay, beta, scale, initial_state):
        return mylib.chunk_gdn(q, k, v, log_decay, beta, scale=scale, initial_state=initial_state)

Everything is passed by keyword under the names of the variant's record. The signature is the list of capabilities:
an input that the function does not name is legal only at its default or neutral value. It returns ``(output,
final_state)``, the state a tuple where the variant has several tensors; ``(output, None)`` where it offers no
state, and the output alone in the bidirectional form.
"""

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from linattn.record import FORMS
from linattn.variants import variant as find_variant
from linattn_spec.profiles import Profile, profile

BUILT_IN = {
    "numpy": "linattn_spec.backends.numpy_folds:backend",
    "onnx-reference": "linattn_spec.backends.onnx_reference:backend",
    "onnxruntime": "linattn_spec.backends.onnx_runtime:backend",
    "transformers": "linattn_spec.backends.transformers_torch:backend",
    "tree-recurrence": "linattn_spec.backends.tree_recurrence:backend",
    "mlx-lm": "linattn_spec.backends.mlx_lm:backend",
    "jax-linear-attention": "linattn_spec.backends.jax_linear_attention:backend",
}


class Unsupported(Exception):
    """Raised by an adapter, or by the suite for it: this case lies outside what the implementation offers."""


class NoBackend(Exception):
    """There is no such backend, or something that it needs is not installed."""


@dataclass(frozen=True)
class Conventions:
    """How an implementation lays out what it takes and returns. Axes of size 1 in the record are squeezed."""

    layout: str = "BTHD"  # or "BHTD"
    state: str = "KV"  # or "VK": values are rows
    gate: str = "log"  # or "linear": log_decay is passed as exp(log_decay)
    heads: str = "repeat"  # query head h reads key head h // (Hq / Hk); or "tile": h % Hk

    def __post_init__(self) -> None:
        allowed = {
            "layout": ("BTHD", "BHTD"),
            "state": ("KV", "VK"),
            "gate": ("log", "linear"),
            "heads": ("repeat", "tile"),
        }
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {', '.join(values)}; got {getattr(self, name)!r}")


@dataclass(frozen=True)
class Function:
    """One implementation of one form of one variant."""

    variant: str
    form: str
    call: Callable[..., Any]
    accepts: str
    conventions: Conventions
    profiles: tuple[Profile, ...]
    label: str = ""  # tells apart several implementations of one form
    snippet: str = ""  # code that computes ``output, state`` from ``arguments`` with the library alone, for bug reports

    @property
    def column(self) -> str:
        return f"{self.form}.{self.label}" if self.label else self.form

    def check_accepts(self, dims: dict[str, int]) -> None:
        """Raises ``Unsupported`` where the dimensions of a case do not satisfy ``accepts``."""
        if self.accepts and not eval(self.accepts, {"__builtins__": {}}, dict(dims)):
            raise Unsupported(f"accepts {self.accepts}; the case has {', '.join(f'{k}={v}' for k, v in dims.items())}")

    def promises(self, profile: str) -> bool:
        return any(promised.name == profile for promised in self.profiles)

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.call).parameters)


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
    functions: list[Function] = field(default_factory=list)

    def implements(
        self,
        variant: str,
        form: str,
        accepts: str = "",
        profiles: Sequence[str | Profile] | None = None,
        label: str = "",
        snippet: str = "",
        **conventions: str,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function; conventions given here override the backend's."""
        if form not in FORMS:
            raise ValueError(f"form must be one of {', '.join(FORMS)}; got {form!r}")
        record = find_variant(variant)
        own = Conventions(**{item.name: getattr(self, item.name) for item in fields(Conventions)})
        promised = tuple(profile(name) for name in (self.profiles if profiles is None else profiles))

        def register(call: Callable[..., Any]) -> Callable[..., Any]:
            unknown = (
                set(inspect.signature(call).parameters) - {item.name for item in record.inputs} - {"initial_state"}
            )
            if unknown:
                raise ValueError(f"{variant} has no input {', '.join(sorted(unknown))}; see linattn explain {variant}")
            function = Function(variant, form, call, accepts, replace(own, **conventions), promised, label, snippet)
            if any((f.variant, f.column) == (variant, function.column) for f in self.functions):
                raise ValueError(f"{self.name} implements {variant} {function.column} twice; give one of them a label")
            self.functions.append(function)
            return call

        return register

    def function(self, variant: str, column: str) -> Function:
        for function in self.functions:
            if (function.variant, function.column) == (variant, column):
                return function
        raise ValueError(f"{self.name} does not implement {variant} {column}")


def load(name: str) -> Backend:
    """A built-in or installed backend by name, ``path.py`` (its ``backend``), or ``module:object``."""
    installed = {point.name: point.value for point in entry_points(group="linattn.backends")}
    where = BUILT_IN.get(name) or installed.get(name) or name
    try:
        found = from_file(Path(where)) if where.endswith(".py") else from_module(where)
    except ImportError as missing:
        raise NoBackend(f"backend {name}: {missing}") from missing
    if not isinstance(found, Backend):
        raise NoBackend(f"backend {name}: expected a linattn_spec.Backend; got {type(found).__name__}")
    return found


def from_file(path: Path) -> Any:
    if not path.is_file():
        raise NoBackend(f"backend {path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, "backend", None)


def from_module(where: str) -> Any:
    module, _, attribute = where.partition(":")
    if not attribute:
        known = ", ".join(BUILT_IN)
        raise NoBackend(f"backend {where}: expected one of {known}, an installed one, path.py or module:object")
    return getattr(importlib.import_module(module), attribute, None)
