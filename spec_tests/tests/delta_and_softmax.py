"""The delta rules and the relatives of softmax attention: points to evaluate them at, and what holds for all."""

import hashlib
import random
from functools import partial

import numpy as np
import pytest
from drawing import close, each, over_field, over_floats

from linattn import forms
from linattn.algebra import outer
from linattn.numbers import ball, complex_step, field, tape
from linattn.variants import (
    alibi,
    comba,
    delta_rule,
    deltaformer,
    dplr,
    fox,
    gated_delta_product,
    gated_delta_rule,
    gated_oja,
    gdn2,
    gla,
    iplr,
    kda,
    linear_attention,
    parallax,
    path,
    preconditioned_gated_delta_rule,
    preconditioned_kda,
    rwkv7,
    simple_gla,
    softmax_attention,
    stick_breaking,
    wall,
)

DELTA = tuple(
    module.VARIANT
    for module in (
        dplr,
        iplr,
        rwkv7,
        comba,
        gdn2,
        gated_delta_product,
        gated_oja,
        preconditioned_gated_delta_rule,
        preconditioned_kda,
    )
)
SOFTMAX = tuple(module.VARIANT for module in (fox, alibi, path, deltaformer, wall, parallax, stick_breaking))
KNOWN = (delta_rule, gated_delta_rule, kda, gla, simple_gla, linear_attention, softmax_attention)
BY_NAME = {v.name: v for v in (*DELTA, *SOFTMAX, *(module.VARIANT for module in KNOWN))}
ROUTES = {
    "recurrent": forms.recurrent,
    "parallel": forms.parallel,
    "chunks of 2": partial(forms.chunkwise, chunk_size=2),
}
EACH_ROUTE = pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)


@pytest.fixture(autouse=True)
def functions_of_numbers(monkeypatch):
    """The logarithm of a field number is any number that depends on it alone, and the larger of two is any of them."""

    def log(x):
        return field.Number(int.from_bytes(hashlib.blake2b(f"log {x.value}".encode()).digest()) if x.value != 1 else 0)

    monkeypatch.setattr(field.Number, "log", log, raising=False)
    monkeypatch.setattr(field.Number, "maximum", lambda x, y: x if x.value >= y.value else y, raising=False)


def in_field(variant, seed=0, **sizes):
    return over_field(variant, seed, J=3, **sizes)


def inside(variant, seed=0, leading=(), **sizes):
    """Random floats inside every domain."""
    state, inputs = over_floats(variant, seed, leading, J=2, P=2, **sizes)
    state = tuple(np.abs(x) if item.name in ("kept", "A") else x for item, x in zip(variant.state, state, strict=True))
    return state, {item.name: np.asarray(folded(item.domain, inputs[item.name])) for item in variant.inputs}


def folded(domain, x):
    low, high = domain or (-np.inf, np.inf)
    return x if low == -np.inf else low + np.abs(x) % (high - low)


def empty(state):
    """A cache without tokens."""
    return tuple(x[..., :0, :] for x in state)


def unit(*shape, seed=0):
    x = np.random.default_rng(seed).normal(size=shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def orthonormal(n, seed=0):
    """n orthonormal vectors of length n over the field: the rows of a reflection."""
    x = field.draw((n,), "number", random.Random(seed))
    return np.eye(n, dtype=int) - outer(x, x) * (2 / (x @ x))


def named(variant, state, inputs):
    return inputs | {f"state {item.name}": x for item, x in zip(variant.state, state, strict=True)}


def results(variant, route):
    """The computation as one function from names to arrays."""

    def compute(numbers):
        state = tuple(numbers[f"state {item.name}"] for item in variant.state)
        final, output = route(variant, state, {item.name: numbers[item.name] for item in variant.inputs})
        return {"output": output} | {f"final {s.name}": x for s, x in zip(variant.state, final, strict=True)}

    return compute


def certify_alike(variant):
    """All routes certify to the same bytes, and floats follow."""
    point = named(variant, *inside(variant, leading=(2,), T=5, K=3, V=2))
    exact = {name: ball.certify(results(variant, route), point)[0] for name, route in ROUTES.items()}
    for name, route in ROUTES.items():
        floats = results(variant, route)(point)
        for key, x in exact["recurrent"].items():
            assert exact[name][key].tobytes() == x.tobytes()
            assert close(floats[key], x)


def gradients_agree(variant):
    """By reverse mode through the closed form, and by steps through the recurrence, for every input and state."""
    point = named(variant, *inside(variant, T=4, K=3, V=2))
    point = {name: np.asarray(np.where(np.isfinite(x), x, -1.0)) for name, x in point.items()}
    rng = np.random.default_rng(1)
    cotangents = {key: rng.normal(size=x.shape) for key, x in results(variant, forms.recurrent)(point).items()}
    reverse = tape.gradients(results(variant, forms.parallel), point, cotangents)
    for name in point:
        assert close(reverse[name], complex_step.gradient(results(variant, forms.recurrent), point, cotangents, name))


def keeps_the_precision(variant, route, dtype):
    point = {name: x.astype(dtype) for name, x in named(variant, *inside(variant)).items()}
    assert {x.dtype for x in results(variant, route)(point).values()} == {np.dtype(dtype)}


EACH_DELTA, EACH_SOFTMAX = each(DELTA), each(SOFTMAX)
