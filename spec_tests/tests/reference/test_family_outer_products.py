"""Variants that write outer products: all routes agree, sums written by hand agree."""

from functools import partial

import numpy as np
import pytest
from drawing import agree, close, each, over_field, over_floats
from outer_products import NEW, functions_of_numbers  # noqa: F401

from linattn import algebra, discretise, forms
from linattn.numbers import ball, complex_step, tape
from linattn.rotary import cosformer_angle
from linattn.variants import cosformer, mamba

EACH = each(NEW)
ROUTES = {
    "recurrent": forms.recurrent,
    "parallel": forms.parallel,
    "chunks of 2": partial(forms.chunkwise, chunk_size=2),
}


def inside(variant, seed=0, leading=(), **sizes):
    """Random floats inside every domain."""
    state, inputs = over_floats(variant, seed, leading, **sizes)
    signs = {"dt": 1, "A": -1}
    return state, {name: signs[name] * np.abs(x) if name in signs else x for name, x in inputs.items()}


def named(variant, state, inputs):
    return inputs | {f"state {item.name}": x for item, x in zip(variant.state, state, strict=True)}


def results(variant, route):
    """The computation as one function from names to arrays."""

    def compute(numbers):
        state = tuple(numbers[f"state {item.name}"] for item in variant.state)
        final, output = route(variant, state, {item.name: numbers[item.name] for item in variant.inputs})
        return {"output": output} | {f"final {s.name}": x for s, x in zip(variant.state, final, strict=True)}

    return compute


@EACH
def test_all_routes_agree_exactly(variant):
    assert agree(variant, over_field(variant))


@EACH
def test_the_routes_certify_to_the_same_bytes_and_floats_follow(variant):
    point = named(variant, *inside(variant, leading=(2,), T=5, K=3, V=2))
    exact = {name: ball.certify(results(variant, route), point)[0] for name, route in ROUTES.items()}
    for name, route in ROUTES.items():
        assert {key: x.tobytes() for key, x in exact[name].items()} == {
            key: x.tobytes() for key, x in exact["recurrent"].items()
        }
        floats = results(variant, route)(point)
        assert all(close(floats[key], x) for key, x in exact["recurrent"].items())


@EACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("route", ROUTES.values(), ids=ROUTES)
def test_the_precision_stays(variant, route, dtype):
    point = {name: x.astype(dtype) for name, x in named(variant, *inside(variant)).items()}
    assert {x.dtype for x in results(variant, route)(point).values()} == {np.dtype(dtype)}


@EACH
def test_gradients_agree_with_the_complex_step(variant):
    """By reverse mode through the closed form, and by steps through the recurrence, for every input and state."""
    point = named(variant, *inside(variant, T=4, K=3, V=2))
    point = {name: np.asarray(np.where(np.isfinite(x), x, -1.0)) for name, x in point.items()}
    rng = np.random.default_rng(1)
    cotangents = {key: rng.normal(size=x.shape) for key, x in results(variant, forms.recurrent)(point).items()}
    reverse = tape.gradients(results(variant, forms.parallel), point, cotangents)
    for name in point:
        assert close(reverse[name], complex_step.gradient(results(variant, forms.recurrent), point, cotangents, name))


@pytest.mark.parametrize("size", range(1, 10))
def test_the_scan_is_the_recurrence_at_every_length(size):
    decay, write = np.random.default_rng(size).integers(-9, 9, size=(2, size, 3, 2))
    decayed, written = algebra.scan(decay, write, axis=-3)
    product, total = 1, 0
    for t in range(size):
        product, total = decay[t] * product, decay[t] * total + write[t]
        assert np.array_equal(decayed[t], product)
        assert np.array_equal(written[t], total)


def faded(x, start, stop):
    """The product of the decays of the tokens after ``start`` up to ``stop``."""
    return np.exp(x["log_decay"][start + 1 : stop + 1]).prod(axis=0)


def rates(x, start, stop):
    """The same where the decays are exp(dt A)."""
    return np.exp((x["dt"][start + 1 : stop + 1, :, None] * x["A"]).sum(axis=0))


def score(x, t, s):
    return x["q"][t] @ x["k"][s]


def exclusive(x, t, s, kept):
    return x["scale"] * (x["q"][t] * x["k"][s] * (x["u"] if s == t else kept)).sum()


WEIGHTS = {  # of the value of token s in the output of token t: a number, or one for each value channel
    "hadamard_gated_linear_attention": lambda x, t, s: (
        x["scale"] * np.einsum("k,k,kv->v", x["q"][t], x["k"][s], faded(x, s, t))
    ),
    "hgrn2": lambda x, t, s: x["scale"] * (x["q"][t] * (1 - np.exp(x["log_decay"][s])) * faded(x, s, t)).sum(),
    "metala": lambda x, t, s: x["scale"] * (x["q"][t] * (1 - np.exp(x["log_decay"][s])) * faded(x, s, t)).sum(),
    "gated_rfa": lambda x, t, s: score(x, t, s) * (1 - np.exp(x["log_decay"][s])) * faded(x, s, t),
    "lightning_attention": lambda x, t, s: x["scale"] * score(x, t, s) * np.exp(x["log_decay"]) ** (t - s),
    "power_attention": lambda x, t, s: score(x, t, s) ** 2 * faded(x, s, t),
    "cosformer": lambda x, t, s: score(x, t, s) * np.cos(x["angle"] * (t - s)),
    "mamba": lambda x, t, s: (
        np.einsum("k,k,vk->v", x["q"][t], x["k"][s], rates(x, s, t)) * x["dt"][s] + (x["D"] if s == t else 0)
    ),
    "mamba2": lambda x, t, s: score(x, t, s) * rates(x, s, t)[:, 0] * x["dt"][s] + (x["D"] if s == t else 0),
    "rwkv5": lambda x, t, s: exclusive(x, t, s, np.exp(x["log_decay"]) ** max(t - s - 1, 0)),
    "rwkv6": lambda x, t, s: exclusive(x, t, s, faded(x, s, t - 1)),
}
OWN = {  # what a token adds to its output beside the weighted values
    "metala": lambda x, t: (1 + np.tanh((x["q"][t] * x["w"]) @ (1 - np.exp(x["log_decay"][t])) * x["v"][t] / 2)) / 2,
}


@EACH
def test_the_output_is_the_weighted_sum_written_by_hand(variant):
    """From the empty state. cosformer C3: the weights fall like a cosine."""
    state, x = inside(variant)
    _, output = forms.recurrent(variant, tuple(0 * part for part in state), x)
    for t, got in enumerate(output):
        weights = [WEIGHTS[variant.name](x, t, s) for s in range(t + 1)]
        total = sum(weights) + x["eps"] if variant.has("eps") else 1
        want = sum(w * v for w, v in zip(weights, x["v"], strict=False)) / total
        assert close(got, want + OWN.get(variant.name, lambda x, t: 0)(x, t))


def test_with_the_length_as_m_cosformer_sees_tokens_to_come():
    """The authors' code takes M from the length: then outputs change when tokens are added."""
    _, x = inside(cosformer.VARIANT)
    state, _ = inside(cosformer.VARIANT, seed=1)
    empty = tuple(0 * part for part in state)

    def first_three(length, M):
        cut = forms.take(cosformer.VARIANT, x | {"angle": cosformer_angle(M)}, slice(0, length))
        return forms.parallel(cosformer.VARIANT, empty, cut)[1][:3]

    assert close(first_three(3, M=7), first_three(7, M=7))
    assert np.abs(first_three(3, M=3) - first_three(7, M=7)).max() > 1e-3


def test_the_zero_order_hold_of_equation_4_is_the_gate_of_a_recurrent_network():
    """Theorem 1 of the paper: N = 1, A = -1, B = C = 1 give h = (1 - g) h + g x with g = 1 - exp(-dt)."""
    _, x = inside(mamba.VARIANT, K=1)
    ones = np.ones_like(x["q"])
    A, D = -np.ones_like(x["A"]), 0 * x["D"]
    _, weight = discretise.zero_order_hold(A[:, 0], x["dt"])
    held = x["v"] * weight / x["dt"]
    _, output = forms.recurrent(
        mamba.VARIANT, (np.zeros((1, x["v"].shape[-1])),), {**x, "q": ones, "k": ones, "v": held, "A": A, "D": D}
    )
    h = 0
    for t, g in enumerate(1 - np.exp(-x["dt"])):
        h = (1 - g) * h + g * x["v"][t]
        assert close(output[t], h)
