"""How a function of flash-linear-attention becomes one of the suite."""

import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from linattn.variants import variant as find_variant
from linattn_spec.backend import Unsupported
from linattn_spec.backends.fla import DEVICE
from linattn_spec.backends.numpy_folds import with_signature

Call = Callable[..., Any]
UNGROUPED = "Hq == Hk == Hv"
GROUPED = "Hq == Hk and Hv % Hk == 0"
SIZES = " and C in (16, 32, 64)"
INSIDE: dict[str, Any] = {"profiles": ("fp32", "bf16-io")}
FORWARD: dict[str, Any] = INSIDE | {"vjp": ""}  # without a backward pass
OPERANDS = ("fp32", "fp16") if DEVICE == "cpu" else ("fp32", "fp16", "bf16")  # the interpreter has no bfloat16
CHUNK: dict[str, Any] = {"label": "chunk", "profiles": OPERANDS}
FUSED: dict[str, Any] = {"label": "fused-chunk", "profiles": OPERANDS}
HALF: dict[str, Any] = CHUNK | {"profiles": OPERANDS[1:]}  # for those that refuse float32
NAIVE: dict[str, Any] = {"label": "naive"}
SHARED = "Hk == Hv and Hq % Hk == 0"
TILES = "K in (16, 32, 64, 128) and V in (16, 32, 64, 128)"
KERNEL: dict[str, Any] = {"profiles": OPERANDS}
ROUNDED: dict[str, Any] = {"profiles": OPERANDS[1:]}  # what it multiplies has 16 bits, whatever the arrays have
STEP: dict[str, Any] = KERNEL | {"vjp": ""}  # a kernel of decoding has no backward pass
OUTPUTS: dict[str, Any] = {"vjp": ""}  # a backward pass of other shapes than those of the cases
FRESH: dict[str, Any] = {"without": ("initial_state",)}  # what is kept enters as differences of logarithms: they cancel


@dataclass(frozen=True)
class Kernel:
    """What ``Backend.implements`` takes."""

    variant: str
    form: str
    call: Call
    accepts: str
    options: dict[str, Any]


def adapted(variant: str, form: str, call: Call, accepts: str = UNGROUPED, **options: Any) -> Kernel:
    """A function under the names of the suite, which converts them itself."""
    return Kernel(variant, form, call, accepts, {"vjp": "autograd"} | options)


def kernel(
    variant: str,
    form: str,
    function: Call,
    accepts: str = UNGROUPED,
    names: dict[str, str] | None = None,
    chunk_size: int = 0,
    fixed: dict[str, Any] | None = None,
    **options: Any,
) -> Kernel:
    """A function as it is: ``names`` are its names for inputs, ``fixed`` what it is called with besides."""
    offered = inspect.signature(function).parameters
    fixed = (fixed or {}) | ({"output_final_state": True} if "output_final_state" in offered else {})
    theirs = {item.name: item.name for item in find_variant(variant).inputs} | {"log_decay": "g"} | (names or {})
    theirs |= {name: name for name in ("initial_state", "cu_seqlens")}

    def call(**given: Any) -> Any:
        arguments = {theirs.get(name, name): x for name, x in given.items()}
        output, state = guarded(function)(**arguments, **fixed)
        return output, state if "initial_state" in offered else None

    with_signature(
        call,
        [ours for ours, name in theirs.items() if name in offered],
        **({"chunk_size": chunk_size} if chunk_size else {}),
    )
    renamed = {ours: name for ours, name in theirs.items() if ours != name and name in offered}
    snippet = SNIPPET.format(module=function.__module__, name=function.__name__, renamed=renamed, fixed=fixed)
    return adapted(variant, form, call, accepts, snippet=snippet, **options)


def own(variant: str, form: str, names: str, call: Call, accepts: str = UNGROUPED, **options: Any) -> Kernel:
    """``call`` takes the inputs of these names."""
    sizes = {"chunk_size": 64} if "C in" in accepts else {}
    return adapted(variant, form, with_signature(guarded(call), names.split(), **sizes), accepts, **options)


def guarded(function: Call) -> Call:
    """On the device, and without warnings: the interpreter is NumPy, and some kernels warn of versions of Triton."""

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        tensors = [x for x in (*given, *named.values()) if isinstance(x, torch.Tensor)]
        if any(x.requires_grad and x.dtype != torch.float32 for x in tensors):
            raise Unsupported("a backward pass keeps what it needs, gates included, in the dtype of the arrays")
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*on_device(given), **{name: on_device(x) for name, x in named.items()})

    return call


def on_device(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(on_device, x))
    return x.to(DEVICE) if isinstance(x, torch.Tensor) else x


SNIPPET = """\
import torch
from {module} import {name}

device = "cuda" if torch.cuda.is_available() else "cpu"  # with TRITON_INTERPRET=1, for some
names = {renamed}
given = {{names.get(n, n): x.to(device) if isinstance(x, torch.Tensor) else x for n, x in arguments.items()}}
output, state = {name}(**given, **{fixed})"""
