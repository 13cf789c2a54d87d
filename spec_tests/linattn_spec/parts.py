"""The same closed form with other ways to compute its parts: decays, products, the triangular system."""

from collections.abc import Callable
from dataclasses import replace
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from linattn.algebra import unit_lower_solve
from linattn.record import Variant
from linattn.variants import simple_gla


def with_parts(variant: Variant, **parts: Callable[..., Any]) -> Variant:
    """The same code with other functions behind the names of ``linattn.algebra`` that it calls."""

    def exchanged(function: Any, **more: Any) -> FunctionType:
        return FunctionType(function.__code__, function.__globals__ | parts | more, argdefs=function.__defaults__)

    gated = SimpleNamespace(parallel=exchanged(simple_gla.parallel))
    return replace(variant, parallel=exchanged(variant.parallel, simple_gla=gated)) if variant.parallel else variant


def uses(variant: Variant, part: str) -> bool:
    """Whether its closed form calls that function, itself or as simple GLA does."""
    names = variant.parallel.__code__.co_names if variant.parallel else ()
    return part in names or ("simple_gla" in names and part in simple_gla.parallel.__code__.co_names)


def by_inverse(L: Any, B: Any) -> Any:
    """The inverse of I + L by forward substitution, without rounded operands, and one contraction with it."""
    L = L.view(np.ndarray)
    return unit_lower_solve(L, 0 * L + np.eye(L.shape[-1], dtype=L.dtype)) @ B
