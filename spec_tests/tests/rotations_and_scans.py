"""The variants that turn and the elementwise scans: points to evaluate them at, and what holds for all."""

import random
from functools import partial

import numpy as np
from drawing import close, draw_all, is_decay

from linattn import forms
from linattn.numbers import ball, complex_step, field, tape
from linattn.variants import (
    gateloop,
    gru,
    hgrn,
    linear_recurrence,
    lru,
    lstm,
    mamba3,
    min_gru,
    min_lstm,
    retention,
    retnet,
    rg_lru,
    rnn,
    s4d,
    s5,
    simple_gla,
)

ROTATIONS = tuple(module.VARIANT for module in (gateloop, retnet, mamba3))
SCANS = tuple(module.VARIANT for module in (linear_recurrence, hgrn, rg_lru, min_gru, min_lstm, s4d, s5, lru))
ANCESTORS = tuple(module.VARIANT for module in (rnn, lstm, gru))
KNOWN = (retention, simple_gla)
BY_NAME = {v.name: v for v in (*ROTATIONS, *SCANS, *ANCESTORS, *(module.VARIANT for module in KNOWN))}
SIZES = {"D": 5, "N": 3, "R": 2}
ROUTES = {
    "recurrent": forms.recurrent,
    "parallel": forms.parallel,
    "chunks of 2": partial(forms.chunkwise, chunk_size=2),
}


def routes(variant):
    return ROUTES if variant.parallel else {"recurrent": forms.recurrent}


def in_field(variant, seed=0, **sizes):
    """Random numbers, exponents and angles; of the decays but the first one in four is the logarithm of zero."""
    rng = random.Random(f"{variant.name} {seed}")
    forget = np.frompyfunc(lambda decay, n: field.Log(None) if n and not rng.randrange(4) else decay, 2, 1)

    def draw(item, shape):
        values = field.draw(shape, item.kind, rng)
        return forget(values, np.arange(values.size).reshape(shape)) if is_decay(item) else values

    return draw_all(variant, draw, (), SIZES | sizes)


def inside(variant, seed=0, leading=(), **sizes):
    """Random floats inside every domain; one log decay in five is -inf."""
    rng = np.random.default_rng(seed)

    def draw(item, shape):
        values = rng.normal(size=shape)
        if is_decay(item):
            return np.where(np.arange(values.size).reshape(shape) % 5 == 1, -np.inf, -np.abs(values))
        low, high = getattr(item, "domain", None) or (-np.inf, np.inf)
        return np.asarray(values if low == -np.inf else rng.uniform(low, min(high, 1), size=shape))

    return draw_all(variant, draw, leading, SIZES | sizes)


def results(variant, route):
    """The computation as one function from names to arrays."""

    def compute(numbers):
        state = tuple(numbers[f"state {item.name}"] for item in variant.state)
        final, output = route(variant, state, {item.name: numbers[item.name] for item in variant.inputs})
        return {"output": output} | {f"final {s.name}": x for s, x in zip(variant.state, final, strict=True)}

    return compute


def named(variant, state, inputs):
    return inputs | {f"state {item.name}": x for item, x in zip(variant.state, state, strict=True)}


def certify_alike(variant):
    """All routes certify to the same bytes, and floats follow."""
    point = named(variant, *inside(variant, leading=(2,), T=5, K=5, V=2, D=3, N=2))
    first = ball.certify(results(variant, forms.recurrent), point)[0]
    for route in routes(variant).values():
        exact, floats = ball.certify(results(variant, route), point)[0], results(variant, route)(point)
        for key, x in first.items():
            assert exact[key].tobytes() == x.tobytes()
            assert close(floats[key], x)


def gradients_agree(variant):
    """By reverse mode through the closed form, and by steps through the recurrence, for every input and state."""
    point = named(variant, *inside(variant, T=4, K=5, V=2, D=3, N=2))
    point = {name: np.asarray(np.where(np.isfinite(x), x, -1.0)) for name, x in point.items()}
    rng = np.random.default_rng(1)
    cotangents = {key: rng.normal(size=x.shape) for key, x in results(variant, forms.recurrent)(point).items()}
    for route in routes(variant).values():
        reverse = tape.gradients(results(variant, route), point, cotangents)
        for name in point:
            step = complex_step.gradient(results(variant, forms.recurrent), point, cotangents, name)
            assert close(reverse[name], step)


def keeps_the_precision(variant, dtype):
    point = {name: x.astype(dtype) for name, x in named(variant, *inside(variant)).items()}
    for route in routes(variant).values():
        assert {x.dtype for x in results(variant, route)(point).values()} == {np.dtype(dtype)}


def empty(state):
    return tuple(x - x for x in state)
