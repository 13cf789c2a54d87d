"""Our own folds as a backend: what plain NumPy reaches in float32 and float64."""

from collections.abc import Callable
from typing import Any

import numpy as np

import linattn
from linattn.record import Variant
from linattn_spec.backend import Backend

backend = Backend("NumPy folds of linattn", version=np.__version__, profiles=("fp32", "fp64"), layout="BHTD")


def adapter(variant: Variant, form: str) -> Callable[..., Any]:
    narrow = {item.name for item in variant.inputs if item.axes.split()[-1:] == ["1"]}

    def call(initial_state: Any = None, **inputs: Any) -> Any:
        arrays = {name: x[..., None] if name in narrow else x for name, x in inputs.items()}
        output, state = linattn.prefill(variant, form=form, chunk_size=16, initial_state=initial_state, **arrays)
        return output, state or None

    names = [item.name for item in variant.inputs] + ([] if form == "bidirectional" else ["initial_state"])
    return with_signature(call, names)


def with_signature(call: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """The suite reads capabilities off the signature: give one function for all variants the names of each."""
    import inspect

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    )
    return call


for _variant in linattn.VARIANTS:
    for _form in _variant.forms:
        backend.implements(_variant.name, _form)(adapter(_variant, _form))
