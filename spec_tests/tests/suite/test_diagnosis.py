"""The diagnosis of a check: it names what an implementation does wrong, and keeps silent where it cannot know."""

import re

import numpy as np
import pytest

import linattn
from linattn_spec import Backend
from linattn_spec.checks import run_check
from linattn_spec.mistakes import mistake, record
from linattn_spec.mistakes.mutant import mutant
from linattn_spec.mistakes.record import Mistake, right
from linattn_spec.results import Check


def judged(wrong, check_id):
    """The result of a backend that is ``wrong``: a mistake, or a function of a call."""
    check = Check.parse(check_id)
    one = wrong if isinstance(wrong, Mistake) else Mistake("made-up", "none", "It is made up.", wrong)
    place = linattn.variant(check.variant), check.column
    return run_check(mutant(one, (check.profile,), only=(place,)), check)


def blended(mistake_id, weight):
    """Right and wrong mixed: ``weight`` is a share of the wrong, or for every head its share."""

    def results(call):
        wrong, truth = mistake(mistake_id).wrong(call), right(call)
        shares = np.asarray(weight, dtype=truth["output"].dtype).reshape(-1, 1, 1)
        return {name: truth[name] + shares * (wrong[name] - truth[name]) for name in truth}

    return results


@pytest.mark.parametrize("profile", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize(
    ("mistake_id", "place"),
    [
        ("scale-missing", "linear_attention/odd-dims:recurrent"),
        ("gate-halved", "gla/odd-dims:recurrent"),
        ("gate-of-the-first-channel", "kda/odd-dims:recurrent"),
        ("beta-not-on-erase", "gated_delta_rule/long:recurrent"),
        ("erase-undecayed", "gated_delta_rule/long:parallel"),
        ("heads-tiled", "gated_delta_rule/grouped-value:chunkwise"),
        ("state-transposed-out", "retention/square:recurrent"),
        ("chunk-carry-not-decayed", "simple_gla/long:chunkwise"),
        ("inverse-with-diagonal", "delta_rule/long:chunkwise"),
        ("not-causal", "softmax_attention/odd-dims:parallel"),
        ("normaliser-before-write", "normalised_linear_attention/odd-dims:recurrent"),
        ("two-tokens-exchanged", "softmax_attention/long:chunkwise"),
    ],
)
def test_a_mistake_is_named(mistake_id, place, profile):
    """By the coefficient of what is made as it is described: 1, within what rounding adds."""
    result = judged(mistake(mistake_id), f"{place}:{profile}:golden")
    assert result.status == "fail"
    assert re.search(rf"; looks like `{mistake_id}` \(coefficient 1\.00\)$", result.reason), result.reason


@pytest.mark.parametrize(("heads", "words"), [([1], "head 1"), ([0, 2], "heads 0, 2")])
def test_a_mistake_in_some_heads_is_named_with_them(heads, words, monkeypatch):
    monkeypatch.setattr(record, "runs", lambda *call: True)  # this one is made for three heads, and fits no other call
    weight = [float(head in heads) for head in range(3)]
    result = judged(blended("gate-halved", weight), "gla/odd-dims:recurrent:fp32:golden")
    assert f"looks like `gate-halved` in {words} (coefficient 1.00)" in result.reason


@pytest.mark.parametrize("strength", [0.9, 1.1])
def test_a_mistake_made_in_part_is_named_with_its_share(strength):
    """What is left over of the errors, |1 - strength| / strength, is below a quarter."""
    result = judged(blended("gate-halved", strength), "gla/odd-dims:recurrent:fp32:golden")
    assert f"looks like `gate-halved` (coefficient {strength:.2f})" in result.reason


@pytest.mark.parametrize("strength", [0.5, 0.7, 1.5, -1.0])
def test_a_mistake_that_explains_too_little_is_not_named(strength):
    result = judged(blended("gate-halved", strength), "gla/odd-dims:recurrent:fp32:golden")
    assert result.status == "fail"
    assert "`gate-halved`" not in result.reason


def test_errors_within_the_limits_that_point_along_a_signature_are_no_rounding():
    result = judged(mistake("keys-normalised"), "gated_delta_rule/square:recurrent:fp16:golden")
    assert result.status == "fail"
    assert result.load < 1
    assert result.reason.startswith("within the limits, but no rounding; looks like `keys-normalised`")
    assert result.reason.endswith("(coefficient 1.00)")


def test_within_the_limits_a_mistake_need_not_explain_the_rest():
    """Made in part, it leaves over more than a mistake may whose errors are beyond the limits; rounding adds to it."""
    result = judged(blended("keys-normalised", 0.7), "gated_delta_rule/square:recurrent:fp16:golden")
    assert result.load < 1
    assert re.search(r"^within the limits, but no rounding; looks like `keys-normalised` .*0\.[67]", result.reason)


@pytest.mark.parametrize("strength", [0.3, -1.0])
def test_less_than_half_of_a_signature_within_the_limits_passes(strength):
    """Below half its size, and in the other direction, an error along a signature may be rounding."""
    result = judged(blended("keys-normalised", strength), "gated_delta_rule/square:recurrent:fp16:golden")
    assert result.status == "pass"


@pytest.mark.parametrize("mistake_id", ["first-token-not-written", "last-token-not-written", "values-a-token-late"])
def test_all_are_named_that_a_case_cannot_tell_apart(mistake_id):
    """Whichever is made: the only token is not written."""
    result = judged(mistake(mistake_id), "linear_attention/one-token:recurrent:fp32:golden")
    match = re.search(r"looks like (.*) \(coefficient 1\.00\)", result.reason)
    assert match, result.reason
    assert len(match[1].split(" or ")) == 3


def test_one_is_named_where_a_case_tells_them_apart():
    result = judged(mistake("first-token-not-written"), "linear_attention/odd-dims:recurrent:fp32:golden")
    assert result.reason.endswith("looks like `first-token-not-written` (coefficient 1.00)")


def nothing_but_nan(call):
    return {name: x * np.nan for name, x in right(call).items()}


def test_values_that_are_not_finite_are_named_where_a_mistake_gives_the_same():
    result = judged(mistake("padding-multiplied-away"), "gla/odd-dims:recurrent:fp32:golden")
    assert result.reason.startswith("output is not finite")
    assert "looks like `padding-multiplied-away` (coefficient 1.00)" in result.reason
    assert "looks like" not in judged(nothing_but_nan, "gla/odd-dims:recurrent:fp32:golden").reason


@pytest.mark.parametrize("profile", ["fp32", "bf16", "fp16"])
@pytest.mark.parametrize("form", ["chunkwise", "parallel"])
def test_not_a_number_from_a_gate_of_minus_infinity_on_is_named(form, profile):
    result = judged(mistake("decays-as-differences"), f"gla/gates-reset:{form}:{profile}:golden")
    assert re.search("looks like .*`decays-as-differences`", result.reason)


def test_nothing_but_nan_is_named_where_mistakes_give_nothing_but_nan():
    """The triangular system of a delta rule spreads a NaN over a whole chunk: all that make one are named together."""
    result = judged(nothing_but_nan, "gated_delta_rule/gates-reset:parallel:fp32:golden")
    assert "`decays-as-differences`" in result.reason
    assert "looks like" not in judged(nothing_but_nan, "gated_delta_rule/long:parallel:fp32:golden").reason


def test_noise_that_is_no_mistake_has_no_name():
    def noisy(call):
        rng = np.random.default_rng(0)
        return {name: x + rng.normal(size=x.shape).astype(x.dtype) for name, x in right(call).items()}

    for case in ("odd-dims", "long", "grouped-query"):
        result = judged(noisy, f"gla/{case}:recurrent:fp32:golden")
        assert result.status == "fail"
        assert "looks like" not in result.reason


def test_recipes_have_no_signatures():
    backend = Backend("zero")

    @backend.implements("linear_attention", "recurrent")
    def recurrent(q, k, v, scale, initial_state):
        return 0 * v, np.zeros((*v.shape[:1], v.shape[2], k.shape[3], v.shape[3]), dtype=v.dtype)

    result = run_check(backend, Check.parse("linear_attention/recipe-64:recurrent:fp32:golden"))
    assert result.status == "fail"
    assert "zeros where there should be values" in result.reason
    assert "looks like" not in result.reason


@pytest.mark.parametrize("kind", ["split", "prefix", "heads"])
def test_laws_are_not_diagnosed(kind):
    result = judged(mistake("initial-state-ignored"), f"gla/odd-dims:recurrent:fp32:{kind}")
    assert "looks like" not in result.reason


def test_a_function_without_a_state_is_diagnosed_by_its_outputs():
    backend = Backend("outputs alone", layout="BHTD")

    @backend.implements("linear_attention", "recurrent")
    def unscaled(q, k, v, scale, initial_state):
        output, _ = linattn.prefill("linear_attention", q=q, k=k, v=v, scale=1.0, initial_state=initial_state)
        return output.astype(q.dtype)

    result = run_check(backend, Check.parse("linear_attention/odd-dims:recurrent:fp32:golden"))
    assert "looks like `scale-missing` (coefficient 1.00)" in result.reason


@pytest.mark.parametrize(
    "check",
    ["gated_delta_rule/grouped-value:recurrent:fp32", "gated_delta_rule/grouped-query:chunkwise:bf16"],
)
def test_a_mistake_that_changes_only_some_heads_is_not_made_in_them_alone(check):
    """Tiled heads agree with repeated ones in four heads of six: they are tiled everywhere nevertheless."""
    result = judged(mistake("heads-tiled"), f"{check}:golden")
    assert "output: only heads 1, 4 of 6" in result.reason
    assert "looks like `heads-tiled` (coefficient 1.00)" in result.reason
