"""The power of the gradient checks: every mistake in a backward pass is resolved, rejected and named."""

import numpy as np
import pytest

import linattn
import linattn_golden
from linattn import VARIANTS
from linattn_spec import PROFILES, Backend, gradient_diagnosis
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.frameworks import to_array, typed
from linattn_spec.laws.gradients import LOSSES, SCENARIOS
from linattn_spec.mistakes.backward_pass import Backward, GradientMistake, right
from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES
from linattn_spec.results import Check

DECLARED = ("fp32", "bf16", "fp16")
MUTATED = ("odd-dims", "square", "long", "grouped-query")
TRIALS = [(variant, one) for variant in VARIANTS for one in GRADIENT_MISTAKES if one.applies(variant)]
EACH_TRIAL = pytest.mark.parametrize(
    ("variant", "mistake"), TRIALS, ids=[f"{variant.name}:{one.id}" for variant, one in TRIALS]
)


def mutant(variant, mistake, profile):
    """A backend whose backward pass makes the mistake, in float32 arithmetic."""
    backend = Backend(mistake.id, profiles=(profile,), layout="BHTD", log_decay_range=-np.inf)
    names = [item.name for item in variant.inputs]
    narrow = {item.name for item in variant.inputs if item.axes.split()[-1:] == ["1"]}
    backend.implements(variant.name, "recurrent")(with_signature(lambda **arguments: None, [*names, "initial_state"]))

    def single(x):
        return np.asarray(x, dtype=np.float32)

    def vjp(output_cotangent, final_state_cotangent, initial_state=None, **inputs):
        numbers = {n: single(x[..., None] if n in narrow else x) for n, x in inputs.items()}
        tensors = initial_state if isinstance(initial_state, tuple) else (initial_state,)
        numbers |= {f"initial_state/{s.name}": single(x) for s, x in zip(variant.state, tensors, strict=True)}
        given = final_state_cotangent if isinstance(final_state_cotangent, tuple) else (final_state_cotangent,)
        weights = {"output": output_cotangent}
        weights |= {f"final_state/{s.name}": x for s, x in zip(variant.state, given, strict=False)}
        weights = {n: single(x) for n, x in weights.items() if x is not None}
        with np.errstate(all="ignore"):
            found = mistake.wrong(Backward(variant, numbers, weights))
        gradients = {n: stored(found[n][..., 0] if n in narrow else found[n], x) for n, x in inputs.items()}
        return gradients | {"initial_state": tuple(single(found[f"initial_state/{s.name}"]) for s in variant.state)}

    backend.vjp(variant.name, "recurrent")(vjp)
    return backend


def stored(gradient, like):
    return to_array("numpy", typed(gradient, str(np.asarray(like).dtype))) if np.ndim(like) else gradient


def checks(variant, profile):
    cases = {case.id.split("/")[1] for case in linattn_golden.cases(variant.name) if case.cotangents}
    return [Check(variant.name, s, "recurrent", profile, kind) for s in SCENARIOS if s in cases for kind in LOSSES]


@EACH_TRIAL
def test_every_mistake_is_rejected_and_named_by_most_of_the_checks_that_reject_it(variant, mistake):
    backend = mutant(variant, mistake, "fp32")
    results = [run_check(backend, check) for check in checks(variant, "fp32") if check.scenario in MUTATED]
    rejected = [result for result in results if result.status != "pass"]
    assert {result.status for result in rejected} == {"fail"}
    named = [result for result in rejected if f"`{mistake.id}`" in result.reason]
    assert 2 * len(named) >= len(rejected), [result.reason for result in rejected if result not in named]


@EACH_TRIAL
@pytest.mark.parametrize("profile", DECLARED)
def test_every_mistake_is_resolved_by_a_check_of_each_profile_that_it_declares(variant, mistake, profile):
    """Its signature stands out of rounding; what it changes does not depend on the precision."""
    if profile not in mistake.profiles:
        pytest.skip(f"declares no {profile}")
    names = tuple(
        sorted(gradient_diagnosis.truth_of(f"{variant.name}/odd-dims", PROFILES[profile], "recurrent", "both").values)
    )
    known = (
        gradient_diagnosis.signatures(check.case, PROFILES[profile], "recurrent", LOSSES[check.kind], names)
        for check in checks(variant, profile)
    )
    assert any(signatures.resolves(mistake.id) for signatures in known)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize("profile", DECLARED)
def test_a_right_backward_pass_is_rejected_by_none(variant, profile):
    backend = mutant(variant, GradientMistake("none", "Nothing is wrong.", right), profile)
    results = [run_check(backend, check) for check in checks(variant, profile)]
    assert [result for result in results if result.status != "pass"] == []


def test_ids_are_unique_and_sentences_are_sentences():
    assert len({one.id for one in GRADIENT_MISTAKES}) == len(GRADIENT_MISTAKES)
    assert all(one.id.startswith("gradient-") and one.sentence.endswith(".") for one in GRADIENT_MISTAKES)
    assert all(set(one.profiles) <= set(PROFILES) for one in GRADIENT_MISTAKES)
    assert all(any(one.applies(variant) for variant in linattn.VARIANTS) for one in GRADIENT_MISTAKES)
    assert gradient_diagnosis.GRADIENT_MISTAKES is GRADIENT_MISTAKES
