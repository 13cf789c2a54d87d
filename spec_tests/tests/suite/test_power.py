"""The power of the suite: every mistake is resolved, rejected and named; a right implementation never is."""

import numpy as np
import pytest
from drawing import FOUNDATION

import linattn
import linattn_golden
from linattn_spec import PROFILES, diagnosis, load
from linattn_spec.checks import run_check
from linattn_spec.emulated import Kernel
from linattn_spec.emulated.routes import differences
from linattn_spec.mistakes import MISTAKES, mistake
from linattn_spec.mistakes import power as power_module
from linattn_spec.mistakes.mutant import mutant
from linattn_spec.mistakes.power import trials
from linattn_spec.mistakes.record import CHUNK, Mistake, call_of, with_all_heads
from linattn_spec.results import Check
from linattn_spec.ways import strongest_gate

DECLARED = ("fp32", "bf16", "fp16")
PLACES = [(variant, form) for variant in FOUNDATION for form in variant.forms]
OTHER_SHAPE = {("final-state-stale", "softmax_attention")}  # its state grows: a stale one is told by its shape
NAMED = 0.95  # the share of mutants that most of their cases must name


def cases(variant):
    return list(linattn_golden.cases(variant.name, "certified"))


def faultless(chunk_size):
    """The reference as the mistake that is none."""

    def results(call):
        output, state = linattn.prefill(
            call.variant, form=call.form, chunk_size=chunk_size, initial_state=call.state or None, **call.inputs
        )
        return {"output": output} | dict(enumerate(state))

    return Mistake(f"chunks-of-{chunk_size}", "none", "Nothing is wrong.", results)


def rejected(backend, variant, form, profile, on=None):
    """What the suite finds wrong, by case; every certified case, or those it is tried ``on``, must be judged."""
    judged = on or cases(variant)
    checks = [Check(variant.name, case.id.split("/")[1], form, profile, "golden") for case in judged]
    results = [run_check(backend, check) for check in checks]
    assert not [result for result in results if result.status == "unsupported"]
    return {result.check.id: result.reason for result in results if result.status != "pass"}


@pytest.fixture(scope="module", params=PLACES, ids=lambda place: f"{place[0].name}:{place[1]}")
def place(request):
    """A variant and a form: all tests of one come one after the other, and share the signatures of its cases."""
    return request.param


@pytest.mark.parametrize("profile", DECLARED)
def test_every_mistake_is_resolved_by_a_case_of_each_profile_that_it_declares(place, profile):
    """The coverage gate: the goldens have a case for every mistake, in every variant and form where it can be made."""
    variant, form = place
    names = diagnosis.results_of(variant, form)
    known = [diagnosis.signatures(case.id, form, PROFILES[profile], names) for case in cases(variant)]
    unseen = {
        one.id
        for one in MISTAKES
        if one.applies(variant, form)
        and profile in one.profiles
        and "golden" in one.seen_by
        and not any(s.resolves(one.id) for s in known)
    }
    assert unseen == {one for one, name in OTHER_SHAPE if name == variant.name and form != "bidirectional"}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_right_implementation_is_never_rejected_or_taken_for_a_mistake(place, profile):
    """Whatever the profile: the signatures are larger where its units are smaller."""
    folds = load("numpy")
    backend = folds if folds.functions[0].promises(profile) else mutant(faultless(CHUNK), (profile,), only=(place,))
    assert rejected(backend, *place, profile) == {}


@pytest.mark.parametrize("profile", ["fp32", "bf16"])
@pytest.mark.parametrize("chunk_size", [1, 3, 64])
@pytest.mark.parametrize("variant", ["softmax_attention", "gla", "gated_delta_rule"])
def test_other_chunks_than_those_of_the_signatures_are_no_mistake(variant, chunk_size, profile):
    place = linattn.variant(variant), "chunkwise"
    assert rejected(mutant(faultless(chunk_size), (profile,), only=(place,)), *place, profile) == {}


def emulated(kernel, profile):
    """A kernel that rounds the operands of its contractions, as the mistake that is none."""

    def results(call):
        full = with_all_heads(call)
        shared = full.state[0].shape[1] // call.state[0].shape[1]
        found = kernel(call.variant, PROFILES[profile], full.inputs, full.state)
        return {name: x if name == "output" else x[:, ::shared] for name, x in found.items()}

    return Mistake("kernel", "none", "Nothing is wrong.", results)


@pytest.mark.parametrize("profile", ["tf32", "bf16", "fp16"])
@pytest.mark.parametrize("variant", ["linear_attention", "gated_delta_rule"])
@pytest.mark.parametrize(
    "kernel",
    [Kernel("sums backwards", order="backwards"), Kernel("gates as differences", 64, parts=(("decays", differences),))],
    ids=lambda kernel: kernel.name,
)
def test_the_rounding_of_kernels_is_taken_for_no_mistake(kernel, variant, profile):
    """All cases but those with gates of -inf, whose differences are not numbers."""
    place = linattn.variant(variant), "chunkwise"
    finite = [
        case for case in cases(place[0]) if np.isfinite(strongest_gate(place[0], linattn_golden.load(case).inputs))
    ]
    assert rejected(mutant(emulated(kernel, profile), (profile,), only=(place,)), *place, profile, finite) == {}


@pytest.mark.parametrize(("one", "variant"), sorted(OTHER_SHAPE))
def test_results_of_another_shape_are_told_by_it(one, variant):
    backend = mutant(mistake(one), only=((linattn.variant(variant), "recurrent"),))
    found = rejected(backend, linattn.variant(variant), "recurrent", "fp32")
    assert len(found) == len(cases(linattn.variant(variant)))
    assert all(reason.startswith("final_state/keys must have shape") for reason in found.values())


# -- the kill matrix: one variant of each family, in the forms with most mistakes --------------------------------------


@pytest.mark.parametrize(
    ("variant", "form"),
    [
        *(("softmax_attention", form) for form in ("recurrent", "chunkwise", "parallel")),
        *(("gla", form) for form in ("recurrent", "chunkwise")),
        ("gated_delta_rule", "chunkwise"),
    ],
)
def test_all_mutants_are_rejected_and_named(variant, form):
    found = trials(variant, form, DECLARED)
    applicable = [one for one in MISTAKES if one.applies(linattn.variant(variant), form)]
    golden = [trial for trial in found if trial.check == "golden"]
    assert {(t.mistake, t.profile) for t in golden} == {
        (one.id, p) for one in applicable if "golden" in one.seen_by for p in one.profiles if p in DECLARED
    }
    assert [trial for trial in found if not trial.killed] == []
    assert sum(trial.is_named for trial in golden) >= NAMED * len(golden)
    for trial in golden:
        assert trial.judged == len(cases(linattn.variant(variant)))
        assert max(trial.killed_without, trial.named) <= trial.killed <= trial.judged


def test_the_limits_and_the_other_signatures_reject_nearly_all_mutants_too():
    """What the filter knows of a mistake must not be all that sees it: mistakes nobody has listed are seen as well."""
    found = [trial for trial in trials("linear_attention", "recurrent", DECLARED) if trial.check == "golden"]
    assert sum(bool(trial.killed_without) for trial in found) >= NAMED * len(found)


def test_a_mistake_that_changes_nothing_survives(monkeypatch):
    """The matrix can show a survivor."""
    monkeypatch.setattr(power_module, "MISTAKES", (faultless(CHUNK),))
    found = trials("linear_attention", "recurrent", ("fp32", "bf16"))
    assert [(trial.profile, trial.killed, trial.named, trial.resolved) for trial in found] == [
        ("fp32", 0, 0, 0),
        ("bf16", 0, 0, 0),
    ]
    assert not any(trial.is_named or trial.killed_without for trial in found)


def test_mutants_are_chosen_by_id_and_profile():
    found = trials("gla", "recurrent", ("bf16", "fp32"), ("scale-missing", "state-in-bfloat16"))
    assert {(trial.mistake, trial.profile) for trial in found} == {
        ("scale-missing", "fp32"),
        ("scale-missing", "bf16"),
        ("state-in-bfloat16", "fp32"),
    }


def test_a_mutant_computes_in_float32_and_returns_the_dtype_that_it_was_given():
    """Its state stays float32, and differs from that of float16 arithmetic."""
    place = linattn.variant("gla"), "recurrent"
    backend = mutant(faultless(CHUNK), ("fp16",), only=(place,))
    data = linattn_golden.load(linattn_golden.case("gla/odd-dims"))
    call = call_of(*place, data.inputs, data.initial_state)
    given = {name: x.astype(np.float16) if name in ("q", "k", "v") else x for name, x in call.inputs.items()}
    output, (state,) = backend.function("gla", "recurrent").call(**given, initial_state=call.state[0])
    assert (output.dtype, state.dtype) == (np.float16, np.float32)
    assert not np.array_equal(state, state.astype(np.float16))
