"""The constraints of the records of the delta rules, over the finite field, where unit vectors are rational."""

import numpy as np
import pytest
from delta_and_softmax import (
    BY_NAME,
    DELTA,
    SOFTMAX,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    orthonormal,
    unit,
)
from drawing import close, each, equal

from linattn import forms, prefill
from linattn.algebra import outer, read, transpose
from linattn.numbers import field
from linattn.variants import preconditioned_gated_delta_rule

UNDECAYED = [v for v in DELTA if v.erase == "undecayed"]
DECAYED = [v for v in DELTA if v.erase == "decayed"]
GATES = [
    (v, item)
    for v in (*DELTA, *SOFTMAX)
    for item in v.inputs
    if item.domain and np.isfinite(item.domain).all() and item.kind == "number" and item.role == "gate"
]


@each(v for v in (*DELTA, *SOFTMAX) if v.has("log_decay"))
def test_a_positive_log_decay_is_refused(variant):
    """dplr C1, rwkv7 C1, comba C1, gdn2 C1, gated_delta_product C1, gated_oja C1, fox C1, path C1, wall C1,
    preconditioned_gated_delta_rule C1, preconditioned_kda C1.
    """
    _, inputs = inside(variant)
    prefill(variant, **inputs)
    for name in [item.name for item in variant.inputs if item.name.startswith("log_decay")]:
        with pytest.raises(ValueError, match=rf"^{name} must be <= 0 \(natural log\); got max 0.25 at \[.*\]$"):
            prefill(variant, **inputs | {name: np.full_like(inputs[name], 0.25)})


@pytest.mark.parametrize(("variant", "gate"), GATES, ids=lambda x: x.name)
def test_a_gate_outside_of_its_domain_is_refused(variant, gate):
    """rwkv7 C1, comba C2, gdn2 C1, gated_delta_product C2, gated_oja C2."""
    _, inputs = inside(variant)
    for wrong in (gate.domain[0] - 0.5, gate.domain[1] + 0.5):
        with pytest.raises(ValueError, match=rf"^{gate.name} must be in \[{gate.domain[0]:g}, {gate.domain[1]:g}\]"):
            prefill(variant, **inputs | {gate.name: np.full_like(inputs[gate.name], wrong)})


@each(DECAYED)
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """gdn2 C5, gated_delta_product C7, gated_oja C6, preconditioned_gated_delta_rule C5."""
    state, inputs = in_field(variant)
    for item in variant.inputs:
        if item.kind == "log":
            inputs[item.name][t] = field.Log(None)
    final, output = forms.chunkwise(variant, state, inputs, 3)
    later = forms.take(variant, inputs, slice(t, None))
    assert equal((final, output[t:]), forms.recurrent(variant, tuple(x - x for x in state), later))


@each(UNDECAYED)
def test_log_zero_does_not_forget_where_the_erase_reads_first(variant):
    """dplr C4, rwkv7 C4, comba C6: what has been retrieved is all that is left."""
    (S,), inputs = in_field(variant, T=1)
    inputs["log_decay"][:] = field.Log(None)
    (final,), _ = forms.parallel(variant, (S,), inputs)
    (fresh,), _ = forms.parallel(variant, (S - S,), inputs)
    x = forms.take(variant, inputs, 0)
    read_with = {"dplr": "a", "rwkv7": "kappa", "comba": "p"}[variant.name]
    written_with = {"dplr": lambda: x["b"], "rwkv7": lambda: -x["a"] * x["kappa"], "comba": lambda: -x["beta"] * x["k"]}
    assert np.array_equal(final - fresh, outer(written_with[variant.name](), read(x[read_with], S)))


def norms(S):
    return transpose(S) @ S


@pytest.mark.parametrize("name", ["dplr", "gated_delta_product", "gated_oja"])
def test_an_erase_with_a_unit_vector_never_enlarges_the_state(name):
    """dplr C5, gated_delta_product C2, gated_oja C2: S^T S becomes S^T S - beta (2 - beta) r r^T for what is
    retrieved, r, and that is not more exactly where 0 <= beta <= 2; of gated_oja S^T is meant.
    """
    variant = BY_NAME[name]
    (S,), inputs = in_field(variant, T=1)
    x = forms.take(variant, inputs, 0)
    beta = x["beta"] if "beta" in x else x["q"][:1]
    x["log_decay"] = np.full(x["log_decay"].shape, field.Log(0))
    if name == "gated_oja":
        vectors, x["k"], x["v"] = [orthonormal(S.shape[1])[0]], 0 * x["k"], orthonormal(S.shape[1])[0]
    else:
        vectors, x["v"] = [orthonormal(S.shape[0], t)[0] for t in range(3)], 0 * x["v"]
    if name == "dplr":
        vectors, x["a"], x["b"] = vectors[:1], vectors[0], -beta * vectors[0]
    if name == "gated_delta_product":
        x["k"] = np.stack(vectors)
    (after,), _ = variant.step(S, **x)
    turn = transpose if name == "gated_oja" else np.asarray
    want, state = norms(turn(S)), turn(S)
    for u, strength in zip(vectors, np.reshape(beta, (-1, 1)), strict=True):
        r = read(u, state)
        want, state = want - strength * (2 - strength) * outer(r, r), state - outer(strength * u, r)
    assert np.array_equal(norms(turn(after)), want)


def test_iplr_has_an_eigenvalue_that_can_grow():
    """iplr C3."""
    iplr = BY_NAME["iplr"]
    (S,), inputs = in_field(iplr, T=1)
    x = forms.take(iplr, inputs, 0)
    along = outer(x["b"], S[0])
    (after,), _ = iplr.step(along, **x | {"v": 0 * x["v"]})
    assert np.array_equal(after, (1 + x["a"] @ x["b"]) * along)


@each(v for v in DELTA if v.has("beta") and v.name != "gated_delta_product")
def test_with_beta_0_the_state_only_decays(variant):
    """comba C2, gated_oja C3, preconditioned_gated_delta_rule C4, preconditioned_kda C4."""
    (S, *A), inputs = in_field(variant, T=1)
    token = forms.take(variant, inputs | {"beta": 0 * inputs["beta"]}, 0)
    (after, *A_after), _ = variant.step(S, *A, **token)
    alpha = np.exp(token["log_decay"])
    assert np.array_equal(after, S * alpha if variant.name == "gated_oja" else S * alpha[:, None])
    assert not any(np.array_equal(old, new) for old, new in zip(A, A_after, strict=True))


@pytest.mark.parametrize("t", [0, 4])
def test_open_gates_with_a_unit_vector_store_exactly(t):
    """gdn2 C4, gated_oja C4."""
    for name, vector, stored in (("gdn2", "k", "v"), ("gated_oja", "v", "k")):
        variant = BY_NAME[name]
        state, inputs = in_field(variant)
        inputs[vector] = np.stack([orthonormal(inputs[vector].shape[1], n)[0] for n in range(len(inputs[vector]))])
        inputs |= {gate: 1 + 0 * inputs[gate] for gate in ("b", "w", "beta") if gate in inputs}
        (S,), _ = forms.parallel(variant, state, forms.take(variant, inputs, slice(0, t + 1)))
        S = S if name == "gdn2" else transpose(S)
        assert np.array_equal(read(inputs[vector][t], S), inputs[stored][t])


@pytest.mark.parametrize("j", range(3))
def test_one_step_of_the_product_is_the_gated_delta_rule(j):
    """gated_delta_product C4."""
    state, inputs = in_field(BY_NAME["gated_delta_product"])
    keep = (np.arange(3) == j).astype(int)[:, None]
    one = inputs | {name: inputs[name][:, j] for name in ("k", "v", "beta")}
    got = forms.parallel(BY_NAME["gated_delta_product"], state, inputs | {"beta": keep * inputs["beta"]})
    assert equal(got, forms.recurrent(BY_NAME["gated_delta_rule"], state, one))


@pytest.mark.parametrize("orthogonal", [True, False])
def test_the_order_of_the_product_counts_unless_keys_are_orthogonal(orthogonal):
    """gated_delta_product C5."""
    variant = BY_NAME["gated_delta_product"]
    state, inputs = in_field(variant)
    if orthogonal:
        inputs["k"] = inputs["k"][:, :1, :1] * orthonormal(5)[:3]
    turned = inputs | {name: inputs[name][:, ::-1] for name in ("k", "v", "beta")}
    assert equal(forms.parallel(variant, state, inputs), forms.parallel(variant, state, turned)) == orthogonal


def test_two_reflections_rotate():
    """gated_delta_product C6: in the plane of the keys, by twice the angle between them."""
    variant = BY_NAME["gated_delta_product"]
    (S,), inputs = inside(variant, T=1)
    first, second = inputs["k"][0] = unit(2, 5)
    inputs |= {"beta": 2 + 0 * inputs["beta"], "v": 0 * inputs["v"], "log_decay": 0 * inputs["log_decay"]}
    (final,), _ = forms.parallel(variant, (S,), inputs)
    across = second - (first @ second) * first
    plane = np.stack([first, across / np.linalg.norm(across)])
    angle = 2 * np.arccos(first @ second)
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    assert close(final, S + plane.T @ (rotation - np.eye(2)) @ plane @ S)


def test_the_states_of_gated_oja_are_those_of_kda_transposed():
    """gated_oja C5."""
    (S,), x = in_field(BY_NAME["gated_oja"])
    (final,), _ = forms.parallel(BY_NAME["gated_oja"], (S,), x)
    (want,), _ = forms.recurrent(BY_NAME["kda"], (S.T,), x | {"q": x["v"], "k": x["v"], "v": x["k"]})
    assert np.array_equal(final, want.T)


def test_the_preconditioner_is_bounded():
    """preconditioned_gated_delta_rule C1, preconditioned_gated_delta_rule C3."""
    A = np.exp(np.linspace(-40, 40, 81)) - 1e-18
    m = preconditioned_gated_delta_rule.preconditioner(A, 0.0, 1.5, 1e-18)
    assert np.all((m > 1 / 1.5) & (m < 1.5) & (np.diff(m, prepend=1.5) < 0))
    assert m[40] == 1
    variant = BY_NAME["preconditioned_gated_delta_rule"]
    (_, A), _ = forms.parallel(variant, *inside(variant))
    assert np.all(A >= 0)
