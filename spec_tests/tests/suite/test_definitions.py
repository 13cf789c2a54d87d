"""The mistakes that are easily defined wrongly: their definitions do what their sentences say."""

import numpy as np
import pytest

import linattn
import linattn_golden
from linattn.algebra import unit_lower_solve
from linattn_spec.mistakes import MISTAKES, chunks, layout, mistake, moved, triangular
from linattn_spec.mistakes.record import CHUNK, call_of, right, with_all_heads


def call_on(case_id, form="recurrent"):
    case = linattn_golden.case(case_id)
    data = linattn_golden.load(case)
    return call_of(linattn.variant(case.variant), form, data.inputs, data.initial_state)


def made(mistake_id, case_id, form="recurrent"):
    """What the mistake returns, and what is right."""
    call = call_on(case_id, form)
    return mistake(mistake_id).wrong(call), right(call)


@pytest.mark.parametrize(("by", "want"), [(1, [0, -np.inf, 2]), (-1, [2, 3, 0])])
def test_shifting_begins_with_0_whatever_is_shifted_out(by, want):
    x = np.array([-np.inf, 2.0, 3.0]).reshape(1, 1, 3, 1)
    assert moved.shifted(x, by).ravel().tolist() == want


def test_tiled_heads_meet_head_modulo_groups():
    """With six query heads on two key heads, 1 meets 1, and so on; right is 1 on 0. Computed head by head."""
    call = call_on("linear_attention/grouped-query")
    wrong = mistake("heads-tiled").wrong(call)
    for head in range(6):
        own = {"q": call.inputs["q"][:, [head]], "scale": call.inputs["scale"]}
        own |= {name: call.inputs[name][:, [head % 2]] for name in ("k", "v")}
        output, _ = linattn.prefill("linear_attention", initial_state=(call.state[0][:, [head % 2]],), **own)
        np.testing.assert_allclose(wrong["output"][:, [head]], output, rtol=1e-12, atol=1e-12)


def test_a_layout_read_wrongly_is_the_same_memory_in_another_order():
    x = np.arange(2.0 * 3 * 5 * 7).reshape(2, 3, 5, 7)
    memory = np.ascontiguousarray(x.swapaxes(1, 2)).ravel()  # (B, T, H, D)
    wrong = layout.untransposed(x, None)
    assert wrong.shape == x.shape
    assert np.array_equal(wrong.ravel(), memory)


@pytest.mark.parametrize("case", ["odd-dims", "grouped-query", "grouped-value", "long"])
@pytest.mark.parametrize("variant", ["linear_attention", "gla", "gated_delta_rule"])
def test_repeated_heads_change_nothing_by_themselves(variant, case):
    call = call_on(f"{variant}/{case}")
    got, want = right(with_all_heads(call)), right(call)
    np.testing.assert_allclose(got["output"], want["output"], rtol=1e-12, atol=1e-12)


def test_a_mask_that_is_off_by_one_reads_the_next_write():
    """Without decay and scale, o_t is q_t on the sum of t + 1 writes, which is here done by hand."""
    wrong, truth = made("sees-the-next-token", "linear_attention/odd-dims")
    call = call_on("linear_attention/odd-dims")
    writes = np.einsum("bhtk,bhtv->bhtkv", call.inputs["k"], call.inputs["v"])
    seen = call.state[0][:, :, None] + np.cumsum(writes, axis=2)
    seen = np.concatenate([seen[:, :, 1:], seen[:, :, -1:]], axis=2)
    want = call.inputs["scale"] * np.einsum("bhtk,bhtkv->bhtv", call.inputs["q"], seen)
    np.testing.assert_allclose(wrong["output"], want, rtol=1e-12, atol=1e-12)
    assert np.array_equal(wrong["final_state/S"], truth["final_state/S"])


LOWER = np.tril(np.random.default_rng(0).normal(size=(2, 3, 5, 5)))
B = np.random.default_rng(1).normal(size=(2, 3, 5, 4))


def neumann(L, terms):
    """The first terms of (I + L)^-1 = I - L + L^2 - ..."""
    return sum(np.linalg.matrix_power(-L, n) for n in range(terms + 1))


@pytest.mark.parametrize(
    ("solve", "inverse", "L"),
    [
        (unit_lower_solve, lambda L: np.linalg.inv(np.eye(5) + L), np.tril(LOWER, -1)),
        (triangular.with_diagonal, lambda L: np.linalg.inv(np.eye(5) + L), LOWER + 3 * np.eye(5)),
        (triangular.first_order, lambda L: neumann(L, 1), np.tril(LOWER, -1)),
        (triangular.second_order, lambda L: neumann(L, 2), np.tril(LOWER, -1)),
    ],
)
def test_the_triangular_solves_are_what_they_are_called(solve, inverse, L):
    np.testing.assert_allclose(solve(L, B), inverse(L) @ B, rtol=1e-9, atol=1e-9)  # the inverse itself is rounded


@pytest.mark.parametrize("case", ["odd-dims", "grouped-query", "grouped-value", "long"])
@pytest.mark.parametrize("variant", ["linear_attention", "gla", "kda"])
def test_linear_chunks_are_right_where_nothing_is_changed(variant, case):
    call = call_on(f"{variant}/{case}", "chunkwise")
    got, want = chunks.linear_chunks(None, None)(call), right(call)
    assert got.keys() == want.keys()
    for name in want:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-12, atol=1e-12)


PLACES = [linattn.variant(name) for name in ("gla", "gated_delta_rule")]
BETWEEN = [one for one in MISTAKES if one.kind == "chunk" and any(one.applies(v, "chunkwise") for v in PLACES)]


@pytest.mark.parametrize("one", BETWEEN, ids=lambda one: one.id)
def test_mistakes_between_chunks_begin_at_the_second_chunk(one):
    """All but those that spoil what comes from before a chunk at all, and the initial state with it."""
    inside_a_chunk = {"read-without-decay", "chunk-inside-missing"}
    from_the_start = inside_a_chunk | {name for name in BEFORE if name == one.id}
    variant = "gla" if one.applies(linattn.variant("gla"), "chunkwise") else "gated_delta_rule"
    wrong, truth = made(one.id, f"{variant}/long", "chunkwise")
    same = np.isclose(wrong["output"], truth["output"], rtol=1e-9, atol=1e-12)[:, :, :CHUNK]
    assert same.all() == (one.id not in from_the_start)
    assert not np.allclose(wrong["output"], truth["output"]) or not np.allclose(
        wrong["final_state/S"], truth["final_state/S"]
    )


BEFORE = (
    "chunk-before-missing",
    "chunk-before-not-decayed",
    "chunk-before-decayed-exclusively",
    "chunk-erase-of-the-state-missing",
    "chunk-erase-of-an-undecayed-state",
)


def test_bfloat16_and_float16_are_rounded_to_8_and_11_bits():
    wrong, truth = made("outputs-through-bfloat16", "gla/odd-dims")
    assert 2.0**-10 < np.abs(wrong["output"] / truth["output"] - 1).max() <= 2.0**-8
    wrong, truth = made("outputs-through-float16", "gla/odd-dims")
    assert 2.0**-13 < np.abs(wrong["output"] / truth["output"] - 1).max() <= 2.0**-11
