"""One variant is another one under a restriction: exactly over the finite field, and in certified bytes."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from drawing import equal, over_field, over_floats

from linattn import VARIANTS, forms, variant
from linattn.lattice import EDGES, LOOKALIKES, MEETINGS
from linattn.numbers import ball

FORMS = ("recurrent", "chunkwise", "parallel")
CHUNK = 3
ON_A_BOUND = ("preconditioned_gated_delta_rule", "preconditioned_kda")  # a maximum of 1 and 1 decides no ball


def each(edges):
    return pytest.mark.parametrize("edge", list(edges), ids=lambda edge: f"{edge.special} < {edge.general}")


IN_FIELD = [edge for edge in (*EDGES, *MEETINGS) if edge.proof == "field"]
IN_BYTES = [edge for edge in (*EDGES, *MEETINGS) if edge.general not in ON_A_BOUND]


def results(edge, form, state, inputs):
    """By the special variant, and by the general one; states only where the edge maps them back."""
    special, point = variant(edge.special), edge.where(state, inputs)
    final, output = forms.run(special, form if form in special.forms else "recurrent", *point, CHUNK)
    run = partial(forms.run, variant(edge.general), form, chunk_size=CHUNK)
    return (final if edge.state_back else (), output), edge.through(run, *point)


def in_field(edge, form="recurrent"):
    return equal(*results(edge, form, *over_field(variant(edge.special))))


def in_bytes(edge, form="recurrent"):
    """With two heads: the maps keep leading axes."""
    special = variant(edge.special)
    state, inputs = over_floats(special, leading=(2, 2), T=5)
    names = [item.name for item in special.state]

    def compute(numbers, through):
        own = tuple(numbers[f"state {name}"] for name in names), {name: numbers[name] for name in inputs}
        final, output = results(edge, form, *own)[through]
        return dict(zip(names, final, strict=False)) | {"output": output}

    arrays = inputs | {f"state {name}": x for name, x in zip(names, state, strict=True)}
    left, right = (ball.certify(partial(compute, through=n), arrays)[0] for n in (0, 1))
    return left.keys() == right.keys() and all(left[name].tobytes() == right[name].tobytes() for name in left)


@each(IN_FIELD)
@pytest.mark.parametrize("form", FORMS)
def test_an_edge_is_an_identity(edge, form):
    """Softmax: kernel_attention C4, C5, fox C1, C2, C5, alibi C1, C2, path C2, deltaformer C1. Writers of outer
    products: normalised_linear_attention C4, retention C2, simple_gla C2, gla C2, hgrn2 C2, metala C2,
    hadamard_gated_linear_attention C1, C2, C4, gated_rfa C5, lightning_attention C1, C2, power_attention C5,
    cosformer C2, mamba C3, C4, mamba2 C3, C4, gateloop C2, mamba3 C2, C3, rwkv5 C2, C4, C5, rwkv6 C2, C4. Delta
    rules: delta_rule C4, gated_delta_rule C1, kda C1, dplr C2, C3, iplr C1, C2, rwkv7 C2, C3, comba C3, C4, C5,
    gdn2 C2, C3, gated_delta_product C3, C4, gated_oja C5, preconditioned_gated_delta_rule C2, preconditioned_kda
    C2, C3, sigmoid_gating_delta_rule C1. Scans: linear_recurrence C1, C4, hgrn C2, rg_lru C4, min_gru C4, min_lstm
    C5, s4d C4, s5 C2, lru C2, C3, rnn C2, lstm C2, gru C2, short_convolution C6. Weights relative to their largest:
    exp_linear_attention C4, rwkv4 C4, mlstm_sigmoid C3, lightnet C4, abc C4, C5, gsa C3. Regressions: longhorn C4,
    longhorn_diagonal C3, C4, titans_linear C2, C3, ttt_linear C3. Levels: log_linear_simple_gla C2,
    log_linear_gated_delta_rule C2, strong_log_linear_simple_gla C2, strong_log_linear_gated_delta_rule C2.
    """
    assert in_field(edge, form)


@each(IN_BYTES)
def test_both_ends_certify_to_the_same_bytes(edge):
    """Some that need an order or more of the exponential than the field has: gateloop C5, mlstm C3,
    mlstm_sigmoid_normalised C5, slstm C4, parallax C1, stick_breaking C5.
    """
    assert in_bytes(edge)


@each([e for e in EDGES if all("bidirectional" in variant(name).forms for name in (e.special, e.general))])
def test_an_edge_between_two_bidirectional_forms_is_one_too(edge):
    if edge.proof == "bytes":
        assert in_bytes(edge, "bidirectional")
    else:
        (_, special), (final, general) = results(edge, "bidirectional", *over_field(variant(edge.special)))
        assert np.array_equal(special, general)
        assert final == ()


@each(LOOKALIKES)
@pytest.mark.parametrize("form", FORMS)
def test_a_lookalike_is_none(edge, form):
    (_, special), (_, general) = results(edge, form, *over_field(variant(edge.special)))
    assert special.shape == general.shape
    assert not np.array_equal(special, general)


@each([*EDGES, *MEETINGS])
def test_the_identity_can_fail(edge):
    """Other values in one channel of the mapped inputs are seen."""
    broken = replace(edge, into=partial(with_other_values, edge))
    assert not (in_field if edge.proof == "field" else in_bytes)(broken)


def with_other_values(edge, state, inputs):
    state, mapped = edge.into(state, inputs)
    name = "v" if "v" in mapped else "x"
    values = mapped[name].copy()
    values[..., 0] = values[..., 0] + values[..., 0]
    return state, mapped | {name: values}


@each(MEETINGS)
def test_where_variants_meet_the_restriction_is_needed(edge):
    everywhere = replace(edge, where=lambda state, inputs: (state, inputs))
    with suppress(ValueError):  # the shapes alone tell some apart
        assert not (in_field if edge.proof == "field" else in_bytes)(everywhere)


@pytest.mark.parametrize(
    ("rule", "plain"), [("delta_rule", "linear_attention"), ("gated_delta_rule", "simple_gla"), ("kda", "gla")]
)
def test_with_beta_0_nothing_is_written_or_erased(rule, plain):
    """delta_rule C2, gated_delta_rule C3, kda C3: the same decay with values 0."""
    state, inputs = over_field(variant(rule))
    inputs["beta"] = 0 * inputs["beta"]
    without = {name: x for name, x in inputs.items() if name != "beta"} | {"v": 0 * inputs["v"]}
    assert equal(forms.chunkwise(variant(rule), state, inputs, 3), forms.recurrent(variant(plain), state, without))


def test_every_variant_is_at_the_end_of_an_edge():
    ends = {name for edge in (*EDGES, *MEETINGS) for name in (edge.special, edge.general)}
    assert ends == {variant.name for variant in VARIANTS}


def test_a_meeting_says_where_it_is():
    assert all(edge.given for edge in MEETINGS)
    assert not any(edge.given for edge in EDGES)


def test_no_edge_stands_there_twice():
    names = [(edge.special, str(edge)) for edge in (*EDGES, *MEETINGS, *LOOKALIKES)]
    assert len(set(names)) == len(names)


def test_the_special_end_stands_before_the_general_one_on_no_circle():
    """From every variant the edges lead upwards to an end, but for pairs of which each contains the other."""
    above = {}
    for edge in EDGES:
        if edge.special not in above.get(edge.general, ()):  # the way back
            above.setdefault(edge.special, []).append(edge.general)

    def reached(name, path=()):
        assert name not in path
        return {name}.union(*(reached(general, (*path, name)) for general in above.get(name, ())))

    assert reached("linear_attention") > {"linear_attention", "retention", "simple_gla", "gla"}
    assert reached("delta_rule") > {"delta_rule", "gated_delta_rule", "kda"}
    for name in above:
        assert reached(name) > {name}
