"""Over rigorous balls every form certifies to the same bytes: there is one correctly rounded value."""

import numpy as np
import pytest
from drawing import EACH_VARIANT, WITH_BIDIRECTIONAL, close, over_floats, routes

from linattn import VARIANTS, forms, variant
from linattn.numbers import ball

BALL_ROUTES = ("chunks of 1", "chunks of 3", "parallel", "split at 4")


def ball_routes(variant):
    """Those that the variant has; without a closed form it has but two calls instead of one."""
    return {name: route for name, route in routes(variant).items() if name in BALL_ROUTES}


FLOAT_ROUTES = [
    (v, name, route) for v in VARIANTS for name, route in (ball_routes(v) | {"recurrent": forms.recurrent}).items()
]


def certified(variant, arguments, route):
    """The correctly rounded state and output."""
    state, inputs = arguments
    names = [item.name for item in variant.state]

    def compute(numbers):
        own = tuple(numbers[name] for name in names)
        state, output = route(variant, own, {name: numbers[name] for name in inputs})
        return dict(zip(names, state, strict=True)) | {"output": output}

    return ball.certify(compute, inputs | dict(zip(names, state, strict=True)))[0]


def same_bytes(x, y):
    return x.keys() == y.keys() and all(x[name].tobytes() == y[name].tobytes() for name in x)


@EACH_VARIANT
def test_all_routes_certify_to_identical_bytes(variant):
    """Two heads, decays of -inf and 0 among them."""
    arguments = over_floats(variant, leading=(2,))
    recurrent = certified(variant, arguments, forms.recurrent)
    for name, route in ball_routes(variant).items():
        assert same_bytes(certified(variant, arguments, route), recurrent), name


def test_so_does_an_online_softmax_of_two_blocks():
    softmax = variant("softmax_attention")
    arguments = over_floats(softmax, T=18)
    assert same_bytes(certified(softmax, arguments, forms.parallel), certified(softmax, arguments, forms.recurrent))


@WITH_BIDIRECTIONAL
def test_both_bidirectional_routes_certify_to_identical_bytes(variant):
    _, inputs = over_floats(variant)
    first, second = (
        ball.certify(lambda numbers, route=route: {"output": forms.bidirectional(variant, numbers, route)}, inputs)[0]
        for route in (0, 1)
    )
    assert same_bytes(first, second)


@pytest.mark.parametrize(
    ("variant", "route"),
    [(v, route) for v, _, route in FLOAT_ROUTES],
    ids=[f"{v.name}-{name}" for v, name, _ in FLOAT_ROUTES],
)
def test_plain_floats_are_the_certified_values_up_to_rounding(variant, route):
    arguments = over_floats(variant, leading=(2,))
    exact = certified(variant, arguments, forms.recurrent)
    state, output = route(variant, *arguments)
    for got, want in zip((*state, output), exact.values(), strict=True):
        assert close(got, want)


def test_the_bytes_can_differ():
    """A change in the last place of one input is seen."""
    gla = variant("gla")
    state, inputs = over_floats(gla)
    nudged = inputs | {"v": np.nextafter(inputs["v"], np.inf)}
    assert not same_bytes(
        certified(gla, (state, nudged), forms.recurrent), certified(gla, (state, inputs), forms.recurrent)
    )
