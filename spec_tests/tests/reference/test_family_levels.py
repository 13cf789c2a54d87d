"""Memories for each power of two of the past: all routes agree, constraints hold."""

import numpy as np
import pytest
from drawing import agree, close, each, equal
from memories import (
    LEVELS,
    empty,
    empty_in_field,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    log_of_zero,  # noqa: F401
    pairs,
)

from linattn import forms, prefill
from linattn.numbers import field

EACH = each(LEVELS)
SIMPLE, DELTA, STRONG, STRONG_DELTA = LEVELS
HIERARCHIES = pytest.mark.parametrize("variant", [SIMPLE, STRONG], ids=["weak", "strong"])
DELTA_RULES = pytest.mark.parametrize("variant", [DELTA, STRONG_DELTA], ids=["weak", "strong"])


@EACH
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_all_routes_agree_exactly(variant, levels):
    """For any numbers in place of the ones and zeros of ``taken``."""
    assert agree(variant, in_field(variant, L=levels))


def highest_differing_bit(t, s):
    """log_linear_simple_gla C5."""
    return (s ^ t).bit_length()


def nearest_by_halves(t, s):
    """Where the token s is when t comes, by moving whole blocks of tokens from level to level, the largest first."""
    levels = {}
    for token in range(t):
        block, level = [token], 1
        while block:
            here = levels.get(level, [])
            full = len(here) == 2 ** (level - 1)
            levels[level], block = (block, here) if full else (here + block, [])
            level += 1
    return next((level for level, tokens in levels.items() if s in tokens), 0)


@pytest.mark.parametrize("cut", [0, 3, 8, 20])
@pytest.mark.parametrize(
    ("variant", "level"), [(SIMPLE, highest_differing_bit), (STRONG, nearest_by_halves)], ids=["weak", "strong"]
)
def test_each_token_is_read_with_the_weight_of_its_level(variant, level, cut):
    """By plain sums, and after a resumption."""
    state, x = inside(variant, T=20, L=6)
    x["log_decay"] = -np.abs(np.where(np.isfinite(x["log_decay"]), x["log_decay"], 0.5))
    middle, first = forms.parallel(variant, empty(variant, state), forms.take(variant, x, slice(0, cut)))
    _, second = forms.parallel(variant, middle, forms.take(variant, x, slice(cut, None)))
    output = np.concatenate([first, second])
    for t in range(20):
        want = sum(
            x["level_scale"][t, level(t, s)]
            * np.exp(x["log_decay"][s + 1 : t + 1].sum())
            * (x["q"][t] @ x["k"][s])
            * x["v"][s]
            for s in range(t + 1)
        )
        assert close(output[t], x["scale"] * want)


@pytest.mark.parametrize("tokens", range(1, 10))
@pytest.mark.parametrize("variant", [SIMPLE, DELTA], ids=lambda variant: variant.name)
def test_the_levels_count_in_binary(variant, tokens):
    state, x = in_field(variant, L=6, T=tokens)
    (_, taken), _ = forms.parallel(variant, empty_in_field(variant, state), x)
    assert [int(bit.value) for bit in taken] == [1, *(tokens - 1 >> bit & 1 for bit in range(5))]


@pytest.mark.parametrize(
    ("tokens", "halves"), [(1, [1, 0, 0, 0, 0]), (3, [1, 1, 1, 0, 0]), (5, [1, 1, 1, 1, 0]), (12, [1, 1, 2, 2, 1])]
)
@pytest.mark.parametrize("variant", [STRONG, STRONG_DELTA], ids=lambda variant: variant.name)
def test_the_strong_levels_count_halves(variant, tokens, halves):
    """1 + 1 token; then by twos, fours and eights: 11 = 1 + 2 + 4 + 4."""
    state, x = in_field(variant, L=5, T=tokens)
    (_, counts), _ = forms.parallel(variant, empty_in_field(variant, state), x)
    assert [int(count.value) for count in counts] == halves


def test_the_hierarchies_part_at_the_third_token():
    """strong_log_linear_simple_gla C5."""
    state, x = in_field(SIMPLE, T=3)
    start = empty_in_field(SIMPLE, state)
    (_, weak), (_, strong) = (forms.parallel(variant, start, x) for variant in (SIMPLE, STRONG))
    assert np.array_equal(weak[:2], strong[:2])
    assert not np.array_equal(weak[2], strong[2])


@HIERARCHIES
def test_the_last_level_takes_whatever_is_more(variant):
    """log_linear_simple_gla C1, strong_log_linear_simple_gla C1: with too few levels the sum over the levels stays that
    of simple GLA.
    """
    state, x = in_field(variant, L=2)
    x["level_scale"] = 0 * x["level_scale"] + 1
    wide = x | {"level_scale": np.concatenate([x["level_scale"]] * 3, axis=-1)}
    more = tuple(np.concatenate([a, *[0 * a] * 2], axis=axis) for a, axis in zip(state, (-3, -1), strict=True))
    assert np.array_equal(forms.parallel(variant, state, x)[1], forms.parallel(variant, more, wide)[1])


def test_level_0_is_the_token_itself():
    """log_linear_simple_gla C3."""
    state, x = in_field(SIMPLE)
    x["level_scale"][:, 1:] = field.Number(0)
    want = x["scale"] * x["level_scale"][:, :1] * (x["q"] * x["k"]).sum(axis=-1, keepdims=True) * x["v"]
    assert np.array_equal(forms.recurrent(SIMPLE, state, x)[1], want)


def test_the_first_strong_levels_are_the_last_two_tokens():
    """strong_log_linear_simple_gla C3."""
    state, x = in_field(STRONG, T=6)
    x["level_scale"][:, 2:] = field.Number(0)
    _, o = forms.recurrent(STRONG, empty_in_field(STRONG, state), x)
    weights, decay = x["scale"] * x["level_scale"], np.exp(x["log_decay"])
    own = weights[:, :1] * (x["q"] * x["k"]).sum(axis=-1, keepdims=True) * x["v"]
    last = weights[1:, 1:2] * decay[1:] * (x["q"][1:] * x["k"][:-1]).sum(axis=-1, keepdims=True) * x["v"][:-1]
    assert np.array_equal(o[0], own[0])
    assert np.array_equal(o[1:], own[1:] + last)


@EACH
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """log_linear_simple_gla C4, log_linear_gated_delta_rule C4, strong_log_linear_simple_gla C4,
    strong_log_linear_gated_delta_rule C4: but for the count.
    """
    state, x = in_field(variant)
    x["log_decay"][t] = field.Log(None)
    (S, _), output = forms.parallel(variant, state, x)
    others = tuple(a * 0 if item.name == "S" else a for item, a in pairs(variant, state))
    (again, _), same = forms.recurrent(variant, others, x | {"v": np.concatenate([0 * x["v"][:t], x["v"][t:]])})
    assert equal(((S,), output[t:]), ((again,), same[t:]))


@DELTA_RULES
def test_without_strength_nothing_is_written(variant):
    """log_linear_gated_delta_rule C3, strong_log_linear_gated_delta_rule C3: the sum of the memories decays."""
    state, x = in_field(variant)
    (S, _), _ = forms.parallel(variant, state, x | {"beta": 0 * x["beta"]})
    assert np.array_equal(S.sum(axis=0), np.exp(x["log_decay"]).prod() * state[0].sum(axis=0))


@DELTA_RULES
@pytest.mark.parametrize(("name", "wrong"), [("log_decay", 0.5), ("beta", 2.5), ("beta", -0.5)])
def test_parameters_outside_of_their_domain_are_refused(variant, name, wrong):
    """log_linear_gated_delta_rule C1, strong_log_linear_gated_delta_rule C1, and so of the simple ones."""
    _, inputs = inside(variant)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(variant, **inputs | {name: np.full_like(inputs[name], wrong)})
