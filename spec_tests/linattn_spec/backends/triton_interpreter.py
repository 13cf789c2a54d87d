"""Triton's interpreter, which runs kernels on a CPU, with what it needs to run those that were written for a GPU.

Triton decides where a kernel is decorated: ``use`` comes before anything imports it. The interpreter of Triton 3.9 has
no bfloat16 arithmetic: it multiplies the bits of the numbers as integers.
"""

import builtins
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


def use() -> None:
    """Every kernel is interpreted. Raises ``ImportError`` where it is too late for that."""
    os.environ["TRITON_INTERPRET"] = "1"
    from triton import language
    from triton.language.extra import libdevice
    from triton.runtime import autotuner, interpreter

    if not isinstance(language.zeros, interpreter.InterpretedFunction):
        raise ImportError("Triton was imported to compile its kernels; set TRITON_INTERPRET=1 before")

    autotuner.Autotuner.prune_configs = first_of(autotuner.Autotuner.prune_configs)
    interpreter.InterpreterBuilder.create_splat = splat
    libdevice.log1p = log1p
    interpreter._patch_lang = once(interpreter._patch_lang)


def first_of(prune: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing is tuned: timing configurations needs the driver of a GPU, and in the interpreter all are the same."""
    return lambda tuner, arguments: prune(tuner, arguments)[:1]


def once(patch: Callable[..., Any]) -> Callable[..., Any]:
    """The interpreter replaces the language at every launch and again at every call of a device function, which takes
    most of its time; where it is replaced already, nothing remains to be done."""
    from triton import language
    from triton.runtime.interpreter import _LangPatchScope

    def patched(function: Any) -> Any:
        names = function.__globals__
        prepare(names)
        languages = [x for x in names.values() if x is language or x is language.core]
        fresh = any(language.core.is_builtin(x.load) for x in languages)
        return patch(function) if fresh else _LangPatchScope()

    return patched


def prepare(names: dict[str, Any]) -> None:
    """What the compiler understands in a module of kernels, and Python does not."""
    from triton import language

    if names.get("range") is loop:
        return
    names["range"] = loop
    for name, value in list(names.items()):
        if language.core.is_builtin(value):
            names[name] = found_when_called(language, value.__name__)


class Counter(int):
    """A loop variable: kernels convert it to other integers, which Python need not."""

    def to(self, dtype: Any) -> "Counter":
        return self

    def __add__(self, other: Any) -> Any:
        return Counter(int(self) + other) if isinstance(other, int) else NotImplemented

    def __sub__(self, other: Any) -> Any:
        return Counter(int(self) - other) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return Counter(int(self) * other) if isinstance(other, int) else NotImplemented


def loop(*bounds: Any) -> Iterator[Counter]:
    return map(Counter, builtins.range(*bounds))


def found_when_called(language: Any, name: str) -> Callable[..., Any]:
    """``gather = tl.gather`` in a module of kernels names the function that the interpreter replaces in ``tl``."""
    return lambda *arguments, **named: getattr(language, name)(*arguments, **named)


def splat(builder: Any, block: Any, scalar: Any) -> Any:
    """The result of a comparison has the dtype of what was compared there, and as a block it would become that."""
    from triton.runtime.interpreter import TensorHandle

    return TensorHandle(np.full(block.shape, scalar.data, dtype=scalar.data.dtype), scalar.dtype.scalar)


def log1p(x: Any) -> Any:
    """A function of CUDA's library, which the interpreter lacks."""
    from triton import language
    from triton.runtime.interpreter import TensorHandle

    return language.tensor(TensorHandle(np.log1p(x.handle.data), x.handle.dtype), x.type)
