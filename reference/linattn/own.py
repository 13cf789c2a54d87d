"""Variants that are not ours: a Python file made like those of ``linattn.variants``, with a record ``VARIANT``.

``linattn.variant("my_variant.py")`` reads one. The suite looks variants up by their names, in worker processes too:
it finds those of the files in the environment variable LINATTN_VARIANTS, which are separated as in PATH.
"""

import importlib.util
import inspect
import os
import re
import traceback
from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

from linattn.record import Variant

FILES = "LINATTN_VARIANTS"
AXES = ("B", "T", "P", "Hq", "Hk", "Hv")
ARGUMENTS = ("variant", "form", "layout", "initial_state", "chunk_size", "cu_seqlens", "seed")


def variants(taken: Collection[str]) -> list[Variant]:
    """Those of the files in the environment. Raises ``ValueError`` where a name is taken."""
    found: list[Variant] = []
    for file in filter(None, os.environ.get(FILES, "").split(os.pathsep)):
        found.append(load(file, {*taken, *(own.name for own in found)}))
    return found


def load(file: str, taken: Collection[str]) -> Variant:
    """The variant of a file. Raises ``ValueError`` that says what is missing or wrong there."""
    path = Path(file).resolve()
    if not path.is_file():
        raise ValueError(f"variant {file}: no such file")
    found = loaded(path, path.stat().st_mtime_ns)
    if found.name in taken:
        raise ValueError(f"{path}: the name {found.name!r} is taken; give your variant another")
    return found


@lru_cache(maxsize=64)
def loaded(path: Path, changed: int) -> Variant:
    """A file is run once, and again when it has changed."""
    found = executed(path).get("VARIANT")
    if not isinstance(found, Variant):
        raise ValueError(f"{path}: VARIANT must be a linattn.Variant; got {found and type(found).__name__}")
    try:
        refuse_unclear(found)
    except ValueError as wrong:
        raise ValueError(f"{path}: {wrong}") from None
    return found


def executed(path: Path) -> dict[str, Any]:
    """What the file defines."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as failure:
        raise ValueError(described(failure, path)) from failure
    return vars(module)


def described(failure: Exception, path: Path) -> str:
    """Where in the file, and what."""
    lines = [frame.lineno for frame in traceback.extract_tb(failure.__traceback__) if frame.filename == str(path)]
    place = f", line {lines[-1]}" if lines else ""
    return f"{path}{place}: {type(failure).__name__}: {failure}"


def refuse_unclear(variant: Variant) -> None:
    """A record of ours is tested; this one may say what nothing else can work with."""
    if not re.fullmatch(r"[A-Za-z]\w*", variant.name):
        raise ValueError(f"name must be letters, digits and _, as in my_variant; got {variant.name!r}")
    if not any(item.time is not None for item in variant.inputs):
        raise ValueError('an input must be a sequence, with an axis T, as in Input("v", "T V", ...)')
    axes = " ".join([item.axes for item in variant.inputs] + [item.axes for item in variant.state]).split()
    for item in variant.inputs:
        if item.name in (*AXES, *ARGUMENTS, *axes):
            raise ValueError(f"an input must not be called {item.name}: an axis or an argument has that name")
        if (item.heads == "none") != (item.axes == ""):
            wanted = 'have heads="q", "k" or "v"' if item.axes else 'have heads="none": it is one number'
            raise ValueError(f"{item.name} with axes {item.axes!r} must {wanted}; got {item.heads!r}")
    state, inputs = ([item.name for item in items] for items in (variant.state, variant.inputs))
    refuse_signature("step", variant.step, state, inputs)
    if variant.parallel is not None:
        refuse_signature("parallel", variant.parallel, state, inputs)
    for route in variant.bidirectional or ():
        refuse_signature("bidirectional", route, [], inputs)


def refuse_signature(name: str, function: Callable[..., Any], state: list[str], inputs: list[str]) -> None:
    """It is called with the state in the order of the record, then with the inputs by name."""
    signature = inspect.signature(function)
    try:
        signature.bind(*state, **dict.fromkeys(inputs))
    except TypeError:
        wanted, taken = [*state, *inputs], list(signature.parameters)
        wrong = [f"lacks {n}" for n in wanted if n not in taken] + [f"asks for {n}" for n in taken if n not in wanted]
        raise ValueError(
            f"{name} must take the state and the inputs of the record, {name}({', '.join(wanted)});"
            f" it {' and '.join(wrong) or 'takes them in another order'}"
        ) from None
