"""The power of the gradient checks: every mistake of a backward pass as a mutant, in float32 arithmetic."""

from typing import Any

import numpy as np

import linattn_golden
from linattn import flat
from linattn.record import Variant
from linattn.variants import variant as find_variant
from linattn_spec import frameworks
from linattn_spec.backend import Backend
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.laws.gradients import LOSSES, SCENARIOS
from linattn_spec.mistakes.backward_pass import Backward, GradientMistake
from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES
from linattn_spec.mistakes.power import Trial
from linattn_spec.results import Check


def trials(variant: str, profiles: tuple[str, ...], chosen: tuple[str, ...] = ()) -> list[Trial]:
    """All mistakes that apply, or the chosen ones, against the gradient checks for every loss."""
    record = find_variant(variant)
    return [
        trial(one, record, profile)
        for profile in profiles
        for one in GRADIENT_MISTAKES
        if one.applies(record) and profile in one.profiles and one.id in (chosen or [one.id])
    ]


def trial(mistake: GradientMistake, variant: Variant, profile: str) -> Trial:
    backend = mutant(mistake, variant, profile)
    results = [run_check(backend, check) for check in checks(variant, profile)]
    rejected = [result for result in results if result.status == "fail"]
    by_limits = sum(result.load is not None and result.load > 1 for result in rejected)
    named = sum(f"`{mistake.id}`" in result.reason for result in rejected)
    counts = (len(results), len(rejected), by_limits, named, named)
    return Trial(mistake.id, variant.name, "recurrent", profile, "gradient", *counts)


def checks(variant: Variant, profile: str) -> list[Check]:
    """Those on cases that hold proven gradients."""
    cases = {case.id.split("/")[1] for case in linattn_golden.cases(variant.name) if case.cotangents}
    return [Check(variant.name, s, "recurrent", profile, kind) for s in SCENARIOS if s in cases for kind in LOSSES]


def mutant(mistake: GradientMistake, variant: Variant, profile: str) -> Backend:
    """A backend with a backward pass alone, which makes the mistake."""
    backend = Backend(mistake.id, profiles=(profile,), layout="BHTD", log_decay_range=-np.inf)
    names = [*(item.name for item in variant.inputs), "initial_state"]
    backend.implements(variant.name, "recurrent")(with_signature(lambda **arguments: None, names))
    narrow = {item.name for item in variant.inputs if item.axes.split()[-1:] == ["1"]}

    def vjp(output_cotangent: Any, final_state_cotangent: Any, initial_state: Any = None, **inputs: Any) -> Any:
        arrays = {n: single(x[..., None] if n in narrow else x) for n, x in inputs.items()}
        start = initial_state if isinstance(initial_state, tuple | None) else (initial_state,)
        numbers = {n: single(x) for n, x in flat.complete(variant, arrays, start).items()}
        tensors = final_state_cotangent if isinstance(final_state_cotangent, tuple) else (final_state_cotangent,)
        states = (f"final_state/{item.name}" for item in variant.state)
        cotangents = {"output": output_cotangent, **dict(zip(states, tensors, strict=False))}
        weights = {name: single(x) for name, x in cotangents.items() if x is not None}
        with np.errstate(all="ignore"):
            found = mistake.wrong(Backward(variant, numbers, weights))
        gradients = {n: stored(found[n][..., 0] if n in narrow else found[n], x) for n, x in inputs.items()}
        return gradients | {"initial_state": tuple(single(found[f"initial_state/{s.name}"]) for s in variant.state)}

    backend.vjp(variant.name, "recurrent")(vjp)
    return backend


def single(x: Any) -> Any:
    return np.asarray(x, dtype=np.float32)


def stored(gradient: Any, like: Any) -> Any:
    """In the dtype of what it is the gradient by."""
    if not np.ndim(like):
        return gradient
    return frameworks.to_array("numpy", frameworks.typed(gradient, str(np.asarray(like).dtype)))
