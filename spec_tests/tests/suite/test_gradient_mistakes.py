"""The power of the gradient checks: every mistake in a backward pass is resolved, rejected and named."""

import pytest
from drawing import FOUNDATION

import linattn
from linattn_spec import PROFILES, gradient_diagnosis
from linattn_spec.checks import run_check
from linattn_spec.laws.gradients import LOSSES
from linattn_spec.mistakes.backward_pass import GradientMistake, right
from linattn_spec.mistakes.backward_power import checks, mutant
from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES

DECLARED = ("fp32", "bf16", "fp16")
MUTATED = ("odd-dims", "square", "long", "grouped-query")
TRIALS = [(variant, one) for variant in FOUNDATION for one in GRADIENT_MISTAKES if one.applies(variant)]
EACH_TRIAL = pytest.mark.parametrize(
    ("variant", "mistake"), TRIALS, ids=[f"{variant.name}:{one.id}" for variant, one in TRIALS]
)


@EACH_TRIAL
def test_every_mistake_is_rejected_and_named_by_most_of_the_checks_that_reject_it(variant, mistake):
    backend = mutant(mistake, variant, "fp32")
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
    known = (known_of(check.case, PROFILES[profile], LOSSES[check.kind]) for check in checks(variant, profile))
    assert any(signatures.resolves(mistake.id) for signatures in known)


def known_of(case, profile, loss):
    names = tuple(sorted(gradient_diagnosis.truth_of(case, profile, loss).values))
    return gradient_diagnosis.signatures(case, profile, loss, names)


@pytest.mark.parametrize("variant", FOUNDATION, ids=lambda variant: variant.name)
@pytest.mark.parametrize("profile", DECLARED)
def test_a_right_backward_pass_is_rejected_by_none(variant, profile):
    backend = mutant(GradientMistake("none", "Nothing is wrong.", right), variant, profile)
    results = [run_check(backend, check) for check in checks(variant, profile)]
    assert [result for result in results if result.status != "pass"] == []


def test_ids_are_unique_and_sentences_are_sentences():
    assert len({one.id for one in GRADIENT_MISTAKES}) == len(GRADIENT_MISTAKES)
    assert all(one.id.startswith("gradient-") and one.sentence.endswith(".") for one in GRADIENT_MISTAKES)
    assert all(set(one.profiles) <= set(PROFILES) for one in GRADIENT_MISTAKES)
    assert all(any(one.applies(variant) for variant in linattn.VARIANTS) for one in GRADIENT_MISTAKES)
