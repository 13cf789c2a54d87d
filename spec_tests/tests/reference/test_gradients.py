"""Gradients by the tape: equal to the complex step, exact over the field, certified over balls."""

import numpy as np
import pytest
from drawing import EACH_VARIANT, WITH_BIDIRECTIONAL, close, each, equal, over_field, over_floats

from linattn import VARIANTS, forms, variant
from linattn.numbers import ball, complex_step, field, tape

# Gradients are sums of products of at most a few thousand float64 operations: 2^-53 * 5000 < 1e-12.
OPERATIONS = 5000
RATIONAL = [v for v in VARIANTS if v.name != "softmax_attention"]


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


def chunks_of_3(*arguments):
    return forms.chunkwise(*arguments, chunk_size=3)


def cotangents_of(outputs, seed=1):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=np.shape(x)) for name, x in outputs.items()}


@EACH_VARIANT
@pytest.mark.parametrize("form", [forms.recurrent, chunks_of_3])
def test_the_tape_agrees_with_the_complex_step(variant, form):
    """For every input and every tensor of the state, with decays of -inf and 0 among the inputs."""
    numbers, compute = flat(variant, over_floats(variant, leading=(2,))), computed(variant, form)
    cotangents = cotangents_of(compute(numbers))
    gradients = tape.gradients(compute, numbers, cotangents)
    assert gradients.keys() == numbers.keys()
    for name, got in gradients.items():
        want = complex_step.gradient(compute, numbers, cotangents, name)
        assert close(got.astype(float) if numbers[name].ndim else float(got), want, OPERATIONS), name


@EACH_VARIANT
def test_certified_gradients_agree_with_the_complex_step_and_between_forms(variant):
    numbers = flat(variant, over_floats(variant))
    cotangents = cotangents_of(computed(variant)(numbers))

    def certified(form):
        def differentiate(balls):
            weights = {name: balls[f"cotangent {name}"] for name in cotangents}
            return tape.gradients(computed(variant, form), {name: balls[name] for name in numbers}, weights)

        return ball.certify(differentiate, numbers | {f"cotangent {name}": x for name, x in cotangents.items()})[0]

    gradients, by_chunks = certified(forms.recurrent), certified(chunks_of_3)
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


def over_field_by_chunks(variant, numbers, constants):
    """The gradients of the recurrent and of the chunkwise form by ``numbers``."""
    import random

    rng = random.Random(5)
    outputs = computed(variant)(numbers | constants)
    cotangents = {name: field.draw(np.shape(x), "number", rng) for name, x in outputs.items()}
    return [
        tape.gradients(lambda x, form=form: computed(variant, form)(constants | x), numbers, cotangents)
        for form in (forms.recurrent, chunks_of_3)
    ]
