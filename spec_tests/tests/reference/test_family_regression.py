"""Memories that solve a regression as they go: all routes agree, the problems are solved."""

import numpy as np
import pytest
from drawing import agree, close, each, equal
from memories import (
    REGRESSION,
    empty,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    log_of_zero,  # noqa: F401
    with_closed_form,
)

from linattn import forms, prefill
from linattn.algebra import solve
from linattn.numbers import field
from linattn.variants import delta_rule, simple_gla

EACH = each(REGRESSION)
MESA, LONGHORN, DIAGONAL, TITANS, TTT = REGRESSION


@each(with_closed_form(REGRESSION))
def test_all_routes_agree_exactly(variant):
    assert agree(variant, in_field(variant))


@pytest.mark.parametrize("size", range(1, 7))
def test_elimination_solves_exactly(size):
    """mesanet: A x = b over the field, and by NumPy's solver for floats."""
    rng = np.random.default_rng(size)
    A, b = rng.integers(-9, 9, size=(2, size, size))
    A, b = (
        np.array([[field.Number(int(x)) for x in row] for row in M], dtype=object) for M in (A @ A.T + np.eye(size), b)
    )
    assert np.array_equal(A @ solve(A, b), b)
    plain = rng.normal(size=(3, size, size))
    definite = plain @ np.swapaxes(plain, -1, -2) + np.eye(size)
    assert np.allclose(solve(definite, plain), np.linalg.solve(definite, plain), rtol=1e-12, atol=1e-12)


def weights_at(x, t):
    """beta and all decays since."""
    decays = [np.exp(x["log_decay"][s + 1 : t + 1].sum()) for s in range(t + 1)]
    return x["beta"][: t + 1, 0] * decays


def test_the_map_that_is_read_minimises_the_decayed_errors():
    """mesanet C4: it is the least-squares fit, by NumPy's own solver on weighted rows."""
    state, x = inside(MESA)
    _, output = forms.recurrent(MESA, empty(MESA, state), x)
    for t, got in enumerate(output):
        roots = np.sqrt(weights_at(x, t))[:, None]
        rows = np.concatenate([roots * x["k"][: t + 1], np.diag(np.sqrt(x["lamb"]))])
        values = np.concatenate([roots * x["v"][: t + 1], np.zeros((5, 6))])
        assert np.allclose(got, x["q"][t] @ np.linalg.lstsq(rows, values)[0], rtol=1e-11, atol=1e-12)


def test_a_strong_regulariser_leaves_simple_gla():
    """mesanet C3: |lamb (H + lamb)^-1 - 1| <= |H| / lamb, where |H| <= T for unit keys."""
    state, x = inside(MESA)
    lamb = 2.0**30
    _, output = forms.parallel(MESA, empty(MESA, state), x | {"lamb": np.full(5, lamb)})
    plain = {"q": x["q"], "k": x["k"], "v": x["beta"] * x["v"], "log_decay": x["log_decay"], "scale": 1.0}
    want = forms.parallel(simple_gla.VARIANT, empty(MESA, state)[:1], plain)[1]
    largest_S = np.linalg.norm(x["v"], axis=-1).sum()
    assert np.abs(lamb * output - want).max() < 7 / lamb * largest_S * np.linalg.norm(x["q"], axis=-1).max()


def test_without_a_regulariser_independent_keys_are_recalled():
    """mesanet C6."""
    state, x = in_field(MESA, T=5)
    x["log_decay"] = np.array([[field.Log(0)]] * 5, dtype=object)
    (S, H), _ = forms.parallel(MESA, tuple(0 * a for a in state), x)
    assert np.array_equal(x["k"] @ solve(H, S), x["v"])


@each([MESA])
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """mesanet C5."""
    state, x = in_field(variant)
    x["log_decay"][t] = field.Log(None)
    final, output = forms.parallel(variant, state, x)
    again, same = forms.recurrent(variant, tuple(0 * a for a in state), forms.take(variant, x, slice(t, None)))
    assert equal((final, output[t:]), (again, same))


@each([MESA, LONGHORN, DIAGONAL])
def test_without_weight_nothing_is_written(variant):
    """mesanet C2, longhorn C2, longhorn_diagonal C2."""
    state, x = in_field(variant)
    final, _ = forms.parallel(variant, state, x | {"beta": 0 * x["beta"]})
    kept = np.exp(x["log_decay"]).prod() if variant is MESA else 1
    assert all(np.array_equal(a, kept * b) for a, b in zip(final, state, strict=True))


def test_longhorn_solves_its_problem():
    """longhorn C3: each value channel by NumPy's solver, (I + beta k k^T) s = s_before + beta v k."""
    (S,), x = inside(LONGHORN, T=1)
    ((got,), _), k = forms.recurrent(LONGHORN, (S,), x), x["k"][0]
    for channel, (beta, v) in enumerate(zip(x["beta"][0], x["v"][0], strict=True)):
        want = np.linalg.solve(np.eye(5) + beta * np.outer(k, k), S[:, channel] + beta * v * k)
        assert close(got[:, channel], want)


def test_longhorn_is_stable_for_long_keys():
    """longhorn C1, longhorn C5: the delta rule explodes."""
    (S,), x = inside(LONGHORN)
    x |= {"k": 100 * x["k"], "beta": x["beta"] + 1}
    (final,), _ = forms.parallel(LONGHORN, (S,), x | {"v": 0 * x["v"]})
    assert np.linalg.norm(final) <= np.linalg.norm(S)
    strong = forms.recurrent(LONGHORN, (S,), x | {"beta": 1e6 * x["beta"]})[0][0]
    assert np.allclose(x["k"][-1] @ strong, x["v"][-1], rtol=1e-6)
    plain = {"q": x["q"], "k": x["k"], "v": 0 * x["v"], "beta": np.ones((7, 1)), "scale": 1.0}
    assert np.linalg.norm(forms.parallel(delta_rule.VARIANT, (S,), plain)[0][0]) > 1e10


def test_the_diagonal_is_a_hadamard_gate():
    """longhorn_diagonal C1, longhorn_diagonal C4: entry by entry, with decays between 0 and 1."""
    (S,), x = inside(DIAGONAL)
    got = forms.parallel(DIAGONAL, (S,), x)[0][0]
    eps = x["beta"] / (1 + x["beta"] * (x["k"] ** 2).sum(axis=-1, keepdims=True))
    for n, channel in np.ndindex(S.shape):
        entry = S[n, channel]
        for k, e, v in zip(x["k"][:, n], eps[:, channel], x["v"][:, channel], strict=True):
            assert 0 < 1 - e * k * k <= 1
            entry = (1 - e * k * k) * entry + e * k * v
        assert close(got[n, channel], entry)


@pytest.mark.parametrize(
    ("variant", "name", "wrong"),
    [
        (MESA, "log_decay", 0.5),
        (MESA, "lamb", -1.0),
        (MESA, "beta", -0.5),
        (TITANS, "log_momentum", 0.5),
        (TITANS, "log_decay", 0.5),
    ],
)
def test_parameters_outside_of_their_domain_are_refused(variant, name, wrong):
    """mesanet C1, titans_linear C1."""
    _, inputs = inside(variant)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(variant, **inputs | {name: np.full_like(inputs[name], wrong)})
