"""The same closed form with other ways to compute its parts: decays, products, scans, the triangular system."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from linattn.activations import softplus
from linattn.algebra import largest, maximum, unit_lower_solve
from linattn.families import stabilised
from linattn.numbers.tape import Traced
from linattn.record import Variant


def with_parts(variant: Variant, **parts: Callable[..., Any]) -> Variant:
    """The same code with other functions behind the names of the reference that it calls, itself or by others."""
    return replace(variant, parallel=exchanged(variant.parallel, parts, {})) if variant.parallel else variant


def exchanged(function: Any, parts: dict[str, Callable[..., Any]], made: dict[Any, Any]) -> FunctionType:
    """``made`` are those that are exchanged already: a function may call itself."""
    if function not in made:
        names = dict(function.__globals__)
        made[function] = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        for name, inner in called(function):
            owner, _, name = name.rpartition(".")
            new = parts.get(name) or exchanged(inner, parts, made)
            if owner:
                names[owner] = SimpleNamespace(**vars(names[owner]) | {name: new})
            else:
                names[name] = new
    return made[function]


def called(function: Any) -> Iterator[tuple[str, Any]]:
    """The functions of the reference behind the names in its code, those of a module as ``module.function``."""
    names = set(names_in(function.__code__))
    for name, value in function.__globals__.items():
        if name in names and isinstance(value, FunctionType):
            yield name, value
        if name in names and isinstance(value, ModuleType) and value.__name__.startswith("linattn."):
            inside = ((own, x) for own, x in vars(value).items() if own in names and isinstance(x, FunctionType))
            yield from ((f"{name}.{own}", x) for own, x in inside)


def names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from names_in(inner)


def uses(variant: Variant, part: str, outside: str = "") -> bool:
    """Whether that name is in the code of its closed form or of what this calls, but for the function ``outside``."""
    return variant.parallel is not None and part in names_of(variant.parallel, outside)


@lru_cache(maxsize=1024)
def names_of(function: Callable[..., Any], outside: str) -> frozenset[str]:
    waiting: list[Any] = [function]
    seen: set[Any] = set()
    names: set[str] = set()
    while waiting:
        if (one := waiting.pop()) not in seen and one.__name__ != outside:
            seen.add(one)
            names.update(names_in(one.__code__))
            waiting += [inner for _, inner in called(one)]
    return frozenset(names)


def by_inverse(L: Any, B: Any) -> Any:
    """The inverse of I + L by forward substitution, without rounded operands, and one contraction with it."""
    L = L.view(np.ndarray)
    return unit_lower_solve(L, 0 * L + np.eye(L.shape[-1], dtype=L.dtype)) @ B


def held(part: Callable[..., Any]) -> Callable[..., Any]:
    """What it returns is a constant to a backward pass."""

    def constant(*arguments: Any) -> Any:
        found = part(*arguments)
        return Traced(found.value) if isinstance(found, Traced) else found

    return constant


HELD: dict[str, Callable[..., Any]] = {  # stabilisers, on which no output depends
    "largest": held(largest),
    "stabilised": exchanged(stabilised, {"maximum": held(maximum)}, {}),
}


def by_logarithms(n: Any, m: Any, scores: Any) -> Any:
    """Weights of a softmax over time as gates: differences of the logarithms of all weights so far, added up."""
    with np.errstate(divide="ignore"):
        start = (m + np.log(n))[..., None, :]
    total, totals = start, []
    for t in range(scores.shape[-2]):
        score = scores[..., t : t + 1, :]
        top = np.maximum(total, score)
        total = top + np.log(np.exp(total - top) + np.exp(score - top))
        totals.append(total)
    logs = np.concatenate(totals, axis=-2)
    gates = np.cumsum(np.concatenate([logs[..., :1, :], logs[..., :-1, :]], axis=-2) - logs, axis=-2)
    causal = np.tri(len(totals), dtype=bool)[:, :, None]
    between = np.where(causal, np.exp(np.where(causal, gates[..., :, None, :] - gates[..., None, :, :], 0)), 0)
    kept = np.exp(gates) * np.exp(start - logs[..., :1, :])
    return between * np.exp(scores - logs)[..., None, :, :], kept, 1 + 0 * logs, logs


def by_sums(scores: Any, earlier: Any) -> Any:
    """The shares of a stick as exponentials of sums of logarithms, as published: each has that of its own key in it."""
    scores = np.where(earlier, scores, 0)
    left = np.where(earlier, -softplus(scores), 0)
    sums = np.cumsum(left[..., ::-1], axis=-1)[..., ::-1]
    return np.where(earlier, np.exp(scores + sums), 0), np.exp(sums[..., :1])


SUMS: dict[str, Callable[..., Any]] = {"broken": by_sums}
