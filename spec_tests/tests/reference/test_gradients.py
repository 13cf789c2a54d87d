"""Gradients by the tape: equal to the complex step, exact over the field, certified over balls."""

import random

import numpy as np
import pytest
from drawing import EACH_VARIANT, ROUTES, WITH_BIDIRECTIONAL, close, is_decay, over_field, over_floats, routes

from linattn import forms, variant
from linattn.numbers import adjoints, ball, complex_step, field, tape

# Gradients are sums of products of at most a few thousand float64 operations: 2^-53 * 5000 < 1e-12.
OPERATIONS = 5000
SCORED = {"wall": {"q", "k", "log_decay", "keys"}, "parallax": {"q", "k", "keys"}}


def flat(variant, arguments):
    """State and inputs in one dictionary."""
    state, inputs = arguments
    return inputs | {item.name: x for item, x in zip(variant.state, state, strict=True)}


def computed(variant, form=forms.recurrent):
    """The form as a function of such a dictionary."""

    def compute(numbers):
        own = tuple(numbers[item.name] for item in variant.state)
        state, output = form(variant, own, {item.name: numbers[item.name] for item in variant.inputs})
        return {"output": output} | {f"final {item.name}": x for item, x in zip(variant.state, state, strict=True)}

    return compute


def in_pieces(variant, *arguments):
    """Chunks of 3; in two halves, token by token, where there is no closed form."""
    return routes(variant).get("chunks of 3", ROUTES["split at 4"])(variant, *arguments)


def smooth(variant, arguments):
    """Where a derivative exists: not at the value that the record excludes."""
    state, inputs = arguments
    excluded = {item.name: item.singular for item in variant.inputs}
    return state, {name: np.where(x == excluded[name], x - 0.5, x) for name, x in inputs.items()}


def cotangents_of(outputs, seed=1):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=np.shape(x)) for name, x in outputs.items()}


@EACH_VARIANT
@pytest.mark.parametrize("form", [forms.recurrent, in_pieces])
def test_the_tape_agrees_with_the_complex_step(variant, form):
    """For every input and every tensor of the state, with decays of -inf and 0 among the inputs."""
    numbers, compute = flat(variant, smooth(variant, over_floats(variant, leading=(2,)))), computed(variant, form)
    cotangents = cotangents_of(compute(numbers))
    gradients = tape.gradients(compute, numbers, cotangents)
    assert gradients.keys() == numbers.keys()
    for name, got in gradients.items():
        want = complex_step.gradient(compute, numbers, cotangents, name)
        assert close(np.asarray(got, dtype=float), want, OPERATIONS), name


@EACH_VARIANT
def test_certified_gradients_agree_with_the_complex_step_and_between_forms(variant):
    numbers = flat(variant, smooth(variant, over_floats(variant)))
    cotangents = cotangents_of(computed(variant)(numbers))

    def certified(form):
        def differentiate(balls):
            weights = {name: balls[f"cotangent {name}"] for name in cotangents}
            return tape.gradients(computed(variant, form), {name: balls[name] for name in numbers}, weights)

        return ball.certify(differentiate, numbers | {f"cotangent {name}": x for name, x in cotangents.items()})[0]

    gradients, by_chunks = certified(forms.recurrent), certified(in_pieces)
    for name, got in gradients.items():
        assert got.tobytes() == by_chunks[name].tobytes(), name
        want = complex_step.gradient(computed(variant), numbers, cotangents, name)
        assert close(got, want, OPERATIONS), name


@WITH_BIDIRECTIONAL
def test_bidirectional_gradients_agree(variant):
    _, inputs = over_floats(variant)
    routes = [lambda x, route=route: {"output": forms.bidirectional(variant, x, route)} for route in (0, 1)]
    cotangents = cotangents_of(routes[0](inputs))
    first, second = (tape.gradients(route, inputs, cotangents) for route in routes)
    for name in inputs:
        want = complex_step.gradient(routes[0], inputs, cotangents, name)
        assert close(np.asarray(first[name], dtype=float), want, OPERATIONS), name
        assert close(np.asarray(second[name], dtype=float), want, OPERATIONS), name


@EACH_VARIANT
def test_over_the_field_the_gradients_of_all_forms_are_equal(variant):
    """Exactly, by every input and state. Exponents that are multiplied with each other (the scores of softmax) are
    constants here: a derivative would multiply an exponent with a field element, which has no meaning. So is what
    the scale of such scores multiplies.
    """
    numbers = flat(variant, over_field(variant))
    logs = {item.name for item in (*variant.inputs, *variant.state) if item.kind == "log" and not is_decay(item)}
    fixed = logs | SCORED.get(variant.name, set()) | {item.name for item in variant.state if item.kind == "count"}
    constants = {name: x for name, x in numbers.items() if name in fixed}
    leaves = {name: x for name, x in numbers.items() if name not in fixed}
    rng = random.Random(1)
    outputs = computed(variant)(numbers)
    cotangents = {name: field.draw(np.shape(x), "number", rng) for name, x in outputs.items() if name != "final keys"}
    recurrent, by_chunks = (
        tape.gradients(lambda x, form=form: computed(variant, form)(constants | x), leaves, cotangents)
        for form in (forms.recurrent, in_pieces)
    )
    assert all(np.array_equal(recurrent[name], by_chunks[name]) for name in leaves)
    assert any(x != 0 for name in leaves for x in np.ravel(recurrent[name]))


def test_the_gradient_over_the_field_is_the_derivative():
    """Linear attention by hand: d/dv of sum <w, o> is sum over t >= s of w_t (scale q_t.k_s)."""
    attention = variant("linear_attention")
    state, inputs = over_field(attention, P=0)
    rng = random.Random(2)
    w = field.draw(inputs["v"].shape, "number", rng)
    got = tape.gradients(
        lambda x: {"output": forms.recurrent(attention, state, inputs | x)[1]}, {"v": inputs["v"]}, {"output": w}
    )
    weights = np.tril(inputs["scale"] * (inputs["q"] @ inputs["k"].T))
    assert np.array_equal(got["v"], weights.T @ w)


def test_a_wrong_derivative_is_seen(monkeypatch):
    """The comparison with the complex step is no tautology: it notices a tape that forgets a factor."""
    monkeypatch.setitem(adjoints.UFUNCS, np.exp, adjoints.elementwise(np.exp, lambda g, y, x: g))
    gla = variant("gla")
    numbers, compute = flat(gla, over_floats(gla)), computed(gla)
    cotangents = cotangents_of(compute(numbers))
    got = tape.gradients(compute, numbers, cotangents)["log_decay"].astype(float)
    assert not close(got, complex_step.gradient(compute, numbers, cotangents, "log_decay"), OPERATIONS)
