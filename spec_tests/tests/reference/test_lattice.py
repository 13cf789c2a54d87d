"""One variant is another one under a restriction: exactly over the finite field, and in certified bytes."""

from functools import partial

import numpy as np
import pytest
from drawing import equal, over_field, over_floats

from linattn import forms, variant
from linattn.lattice import EDGES, LOOKALIKES, Edge
from linattn.numbers import ball

FORMS = ("recurrent", "chunkwise", "parallel")
CHUNK = 3


def each(edges):
    return pytest.mark.parametrize("edge", list(edges), ids=lambda edge: f"{edge.special} < {edge.general}")


def results(edge, form, state, inputs):
    """By the special variant, and by the general one; states only where the edge maps them back."""
    final, output = forms.run(variant(edge.special), form, state, inputs, CHUNK)
    run = partial(forms.run, variant(edge.general), form, chunk_size=CHUNK)
    return (final if edge.state_back else (), output), edge.through(run, state, inputs)


@each(EDGES)
@pytest.mark.parametrize("form", FORMS)
def test_an_edge_is_an_identity(edge, form):
    """gla C2, simple_gla C2, retention C2, gated_delta_rule C1, kda C1, normalised_linear_attention C4."""
    assert equal(*results(edge, form, *over_field(variant(edge.special))))


@each([e for e in EDGES if all("bidirectional" in variant(name).forms for name in (e.special, e.general))])
def test_an_edge_between_two_bidirectional_forms_is_one_too(edge):
    (_, special), (final, general) = results(edge, "bidirectional", *over_field(variant(edge.special)))
    assert np.array_equal(special, general)
    assert final == ()


ON_A_BOUND = ("preconditioned_gated_delta_rule", "preconditioned_kda")  # a maximum of 1 and 1 decides no ball


@each(edge for edge in EDGES if edge.general not in ON_A_BOUND)
def test_both_ends_certify_to_the_same_bytes(edge):
    """With two heads: the maps keep leading axes."""
    special = variant(edge.special)
    state, inputs = over_floats(special, leading=(2, 2), T=5)
    names = [item.name for item in special.state]

    def compute(numbers, through):
        own = tuple(numbers[name] for name in names), {name: numbers[name] for name in inputs}
        final, output = results(edge, "recurrent", *own)[through]
        return dict(zip(names, final, strict=False)) | {"output": output}

    arrays = inputs | dict(zip(names, state, strict=True))
    left, right = (ball.certify(partial(compute, through=n), arrays)[0] for n in (0, 1))
    assert left.keys() == right.keys()
    assert all(left[name].tobytes() == right[name].tobytes() for name in left)


@each(LOOKALIKES)
@pytest.mark.parametrize("form", FORMS)
def test_a_lookalike_is_none(edge, form):
    (_, special), (_, general) = results(edge, form, *over_field(variant(edge.special)))
    assert special.shape == general.shape
    assert not np.array_equal(special, general)


@each(EDGES)
def test_the_identity_can_fail(edge):
    """Another value at one place of the mapped inputs is seen."""
    broken = Edge(edge.special, edge.general, "", partial(with_another_value, edge), edge.output_back, edge.state_back)
    assert not equal(*results(broken, "recurrent", *over_field(variant(edge.special))))


def with_another_value(edge, state, inputs):
    state, mapped = edge.into(state, inputs)
    v = mapped["v"].copy()
    v[-1, 0] = v[-1, 0] + v[-1, 0]
    return state, mapped | {"v": v}


@pytest.mark.parametrize(
    ("rule", "plain"), [("delta_rule", "linear_attention"), ("gated_delta_rule", "simple_gla"), ("kda", "gla")]
)
def test_with_beta_0_nothing_is_written_or_erased(rule, plain):
    """delta_rule C2, gated_delta_rule C3, kda C3: the same decay with values 0."""
    state, inputs = over_field(variant(rule))
    inputs["beta"] = 0 * inputs["beta"]
    without = {name: x for name, x in inputs.items() if name != "beta"} | {"v": 0 * inputs["v"]}
    assert equal(forms.chunkwise(variant(rule), state, inputs, 3), forms.recurrent(variant(plain), state, without))


def test_the_special_end_stands_before_the_general_one_on_no_circle():
    """From every variant the edges lead upwards to an end."""
    above = {}
    for edge in EDGES:
        above.setdefault(edge.special, set()).add(edge.general)

    def reached(name, path=()):
        assert name not in path
        return {name}.union(*(reached(general, (*path, name)) for general in above.get(name, ())))

    assert reached("linear_attention") > {"linear_attention", "retention", "simple_gla", "gla"}
    assert reached("delta_rule") > {"delta_rule", "gated_delta_rule", "kda"}
    for name in above:
        assert reached(name) > {name}
