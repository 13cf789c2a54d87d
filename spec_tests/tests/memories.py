"""Stabilised memories, slots, regressions and levels: points to evaluate them at, and what holds for all."""

import random
from functools import partial

import numpy as np
import pytest
from delta_and_softmax import functions_of_numbers, named, results  # noqa: F401
from drawing import close, draw_all

from linattn import forms
from linattn.numbers import ball, complex_step, field, tape
from linattn.record import Input
from linattn.variants import (
    abc,
    exp_linear_attention,
    gsa,
    lightnet,
    log_linear_gated_delta_rule,
    log_linear_simple_gla,
    longhorn,
    longhorn_diagonal,
    mesanet,
    mlstm,
    mlstm_sigmoid,
    mlstm_sigmoid_normalised,
    rwkv4,
    slstm,
    strong_log_linear_gated_delta_rule,
    strong_log_linear_simple_gla,
    titans_linear,
    ttt_linear,
)


def records(*modules):
    return tuple(module.VARIANT for module in modules)


STABILISED = records(mlstm, mlstm_sigmoid_normalised, rwkv4, exp_linear_attention, lightnet, slstm, mlstm_sigmoid)
SLOTS = records(gsa, abc)
REGRESSION = records(mesanet, longhorn, longhorn_diagonal, titans_linear, ttt_linear)
LEVELS = records(
    log_linear_simple_gla,
    log_linear_gated_delta_rule,
    strong_log_linear_simple_gla,
    strong_log_linear_gated_delta_rule,
)
SIZES = {"M": 3, "L": 4, "P": 2}


@pytest.fixture(autouse=True)
def log_of_zero(monkeypatch):
    """-inf is the logarithm of zero."""

    def same(x, y):
        y = field._log(y)
        return y is not None and x.exponent == y.exponent

    monkeypatch.setattr(field.Log, "__eq__", same)


def with_closed_form(variants):
    return [v for v in variants if v.parallel]


def each_way(variants):
    """Each variant with each of its forms, chunks of 2 among them."""
    pairs = [(v, "recurrent", forms.recurrent) for v in variants]
    pairs += [(v, "parallel", forms.parallel) for v in with_closed_form(variants)]
    pairs += [(v, "chunks of 2", partial(forms.chunkwise, chunk_size=2)) for v in with_closed_form(variants)]
    return pytest.mark.parametrize(
        ("variant", "route"), [(v, route) for v, _, route in pairs], ids=[f"{v.name} {way}" for v, way, _ in pairs]
    )


def may_be_log_zero(item):
    """The decays, and the input gate of mLSTM."""
    return isinstance(item, Input) and item.domain is not None and item.domain[0] == -np.inf


def in_field(variant, seed=0, leading=(), **sizes):
    """Random numbers and exponents; of what may be log 0 but the first one in four is the logarithm of zero."""
    rng = random.Random(f"{variant.name} {seed}")
    forget = np.frompyfunc(lambda decay, n: field.Log(None) if n and not rng.randrange(4) else decay, 2, 1)

    def draw(item, shape):
        values = field.draw(shape, item.kind, rng)
        return forget(values, np.arange(values.size).reshape(shape)) if may_be_log_zero(item) else values

    return draw_all(variant, draw, leading, SIZES | sizes)


def inside(variant, seed=0, leading=(), **sizes):
    """Random floats inside every domain; of what may be log 0 one in five is -inf, one 0."""
    rng = np.random.default_rng(seed)

    def draw(item, shape):
        x = rng.normal(size=shape)
        if may_be_log_zero(item):
            fifth = np.arange(x.size).reshape(shape) % 5
            return np.select([fifth == 1, fifth == 3], [-np.inf, 0.0], 2 * x if item.domain[1] else -np.abs(x))
        if item.name == "H":
            return x @ np.swapaxes(x, -1, -2)
        if item.name in ("start", "taken", "halves"):
            return (x > 0).astype(float)
        if item.typical in ("positive", "strength"):
            return np.abs(x) / (np.abs(x) + 1) + (item.typical == "positive")
        if item.name in ("eps", "scale"):
            return np.abs(x)
        return x / np.linalg.norm(x, axis=-1, keepdims=True) if item.typical == "unit" else x

    return draw_all(variant, draw, leading, SIZES | sizes)


def empty(variant, state):
    """No token yet, as the record has it."""
    return tuple(np.full(x.shape, item.initial) for item, x in zip(variant.state, state, strict=True))


def empty_in_field(variant, state):
    """The same over the field: zeros, and the logarithm of zero."""
    log_zero = field.Log(None)
    return tuple(np.full(x.shape, log_zero) if item.kind == "log" else 0 * x for item, x in pairs(variant, state))


def pairs(variant, state):
    return zip(variant.state, state, strict=True)


def unstabilised(variant, state):
    """What the state stands for, where it is relative to exp(m)."""
    kept = {item.name: x for item, x in pairs(variant, state)}
    true = []
    for item, x in pairs(variant, state):
        if item.relative_to:
            factor = np.exp(kept[item.relative_to])
            true.append(x * (factor[..., None] if len(item.axes.split()) == 2 else factor))
        elif item.name != "m":
            true.append(x)
    return true


def certify_alike(variant):
    """From a state and from the empty one all forms certify to the same bytes, and floats follow."""
    state, inputs = inside(variant, leading=(2,), T=5, K=3, V=2)
    routes = [forms.recurrent] + ([forms.parallel, partial(forms.chunkwise, chunk_size=2)] if variant.parallel else [])
    for point in (named(variant, state, inputs), named(variant, empty(variant, state), inputs)):
        exact = [ball.certify(results(variant, route), point)[0] for route in routes]
        for route, got in zip(routes, exact, strict=True):
            floats = results(variant, route)(point)
            for key, x in exact[0].items():
                assert got[key].tobytes() == x.tobytes()
                assert close(floats[key], x)


def keeps_the_precision(variant, route, dtype):
    point = {name: x.astype(dtype) for name, x in named(variant, *inside(variant)).items()}
    assert {x.dtype for x in results(variant, route)(point).values()} == {np.dtype(dtype)}


def gradients_agree(variant):
    """By reverse mode through the closed form, and by steps through the recurrence, for every input and state."""
    point = {name: without_infinities(x) for name, x in named(variant, *inside(variant, T=4, K=3, V=2)).items()}
    rng = np.random.default_rng(1)
    cotangents = {key: rng.normal(size=x.shape) for key, x in results(variant, forms.recurrent)(point).items()}
    closed = forms.parallel if variant.parallel else forms.recurrent
    reverse = tape.gradients(results(variant, closed), point, cotangents)
    steps = {n: complex_step.gradient(results(variant, forms.recurrent), point, cotangents, n) for n in point}
    assert all(reverse[name].shape == steps[name].shape for name in point)
    assert close(*(np.concatenate([found[name].ravel() for name in point]) for found in (reverse, steps)))


def without_infinities(x):
    """Finite numbers without ties."""
    return np.where(np.isfinite(x), x, -1 - np.arange(x.size).reshape(x.shape) / 8)
