"""Every form of every variant is the same function: proven over the finite field, without a tolerance."""

import re

import numpy as np
import pytest
from drawing import (
    EACH_ROUTE,
    EACH_VARIANT,
    SIZES,
    WITH_BIDIRECTIONAL,
    WITH_CLOSED_FORM,
    agree,
    equal,
    over_field,
    over_floats,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from linattn import VARIANTS, forms
from linattn.variants import softmax_attention

POINTS = pytest.mark.parametrize("seed", range(3))


@EACH_VARIANT
def test_the_record_claims_an_identity_of_output_and_state(variant):
    """The tests of this file compare both. A variant that is exact in less needs a weaker comparison here."""
    claim = re.split(", with|:", variant.exact)[0]
    assert claim in (("output and state", "output, state and stabiliser") if variant.parallel else ("nothing",))


@POINTS
@EACH_ROUTE
def test_every_route_is_the_recurrence(variant, route, seed):
    arguments = over_field(variant, seed)
    assert equal(route(variant, *arguments), forms.recurrent(variant, *arguments))


@EACH_VARIANT
def test_batches_and_heads_are_carried_along(variant):
    """One call is as many calls as there are heads."""
    state, inputs = over_field(variant, leading=(2,))
    final, output = forms.run(variant, variant.usual_form, state, inputs, 3)
    for n in range(2):
        own = {item.name: inputs[item.name][n] if item.axes else inputs[item.name] for item in variant.inputs}
        want = forms.recurrent(variant, tuple(x[n] for x in state), own)
        assert equal((tuple(x[n] for x in final), output[n]), want)


@given(
    st.sampled_from([variant for variant in VARIANTS if variant.parallel]),
    st.fixed_dictionaries({"T": st.integers(0, 6), **{axis: st.integers(1, 3) for axis in "KVDNRW"}}),
    st.integers(1, 8),
    st.integers(),
)
def test_any_shape_and_chunk_size(variant, sizes, chunk_size, seed):
    assume(variant.fits(SIZES | sizes))
    arguments = over_field(variant, seed, **sizes)
    assert equal(forms.chunkwise(variant, *arguments, chunk_size), forms.recurrent(variant, *arguments))


@WITH_CLOSED_FORM
def test_from_the_initial_state(variant):
    """The state that ``initial_state=None`` stands for: the record's initial value, an empty cache. A recurrence alone
    has no identity to prove, and its -inf, in sLSTM, need not be a number of the field.
    """
    state, inputs = over_field(variant, P=0)
    start = tuple(x + (item.initial - x) for x, item in zip(state, variant.state, strict=True))
    assert agree(variant, (start, inputs))


@POINTS
@WITH_BIDIRECTIONAL
def test_both_bidirectional_routes_are_the_same(variant, seed):
    _, inputs = over_field(variant, seed)
    assert np.array_equal(forms.bidirectional(variant, inputs, 0), forms.bidirectional(variant, inputs, 1))


@WITH_BIDIRECTIONAL
def test_bidirectional_is_causal_at_the_last_token(variant):
    """The last token sees all tokens in both, where the causal form starts from the empty state."""
    state, inputs = over_field(variant, P=0)
    empty = tuple(x - x for x in state)
    _, causal = forms.recurrent(variant, empty, inputs)
    assert np.array_equal(forms.bidirectional(variant, inputs)[-1], causal[-1])


@pytest.mark.parametrize("block", [1, 2, 3, 16])
def test_the_online_softmax_does_not_depend_on_its_blocks(monkeypatch, block):
    """23 keys: two blocks of 16, the second one short. With smaller blocks the stabiliser changes often."""
    monkeypatch.setattr(softmax_attention, "BLOCK", block)
    state, inputs = over_field(softmax_attention.VARIANT, T=15)
    assert agree(softmax_attention.VARIANT, (state, inputs))
    routes = [forms.bidirectional(softmax_attention.VARIANT, inputs, route) for route in (0, 1)]
    assert np.array_equal(*routes)


@EACH_VARIANT
@pytest.mark.parametrize("form", ["recurrent", "chunkwise", "parallel", "bidirectional"])
def test_run_finds_the_form_by_its_name(variant, form):
    state, inputs = over_field(variant)
    if form not in variant.forms:
        missing = "bidirectional form" if form == "bidirectional" else "closed form"
        with pytest.raises(ValueError, match=f"^{variant.name} has no {missing}"):
            forms.run(variant, form, state, inputs)
    elif form == "bidirectional":
        assert equal(forms.run(variant, form, state, inputs), ((), forms.bidirectional(variant, inputs)))
    else:
        assert equal(forms.run(variant, form, state, inputs, 2), forms.recurrent(variant, state, inputs))


def test_run_refuses_an_unknown_form():
    state, inputs = over_floats(VARIANTS[0])
    with pytest.raises(ValueError, match=r"form must be one of recurrent, chunkwise, parallel.*; got 'sideways'"):
        forms.run(VARIANTS[0], "sideways", state, inputs)
