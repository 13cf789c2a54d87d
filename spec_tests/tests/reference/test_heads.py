"""Grouped heads are repeated heads: everywhere, and exactly so over the finite field."""

import numpy as np
import pytest
from drawing import EACH_VARIANT, all_close, equal, over_field, over_floats, start_of, turned

from linattn import VARIANTS, decode, forms, heads, prefill

MOST = 4
COUNTS = [(4, 2, 2), (2, 2, 4), (4, 1, 1), (4, 2, 4), (2, 1, 4), (1, 1, 4), (1, 2, 4)]  # of q, k, v


def grouped(variant, counts):
    """Whether the variant has heads of two counts, of which the larger is that of the result."""
    own = {count for name, count in zip("qkv", counts, strict=True) if any(i.heads == name for i in variant.inputs)}
    return len(own) > 1 and MOST in own


GROUPED = [(v, counts) for v in VARIANTS for counts in COUNTS if grouped(v, counts)]


def each_grouped(cases, names):
    """Elementwise recurrences have the heads of the values alone: there is nothing to group."""
    return pytest.mark.parametrize(names, cases, ids=lambda x: getattr(x, "name", str(x)))


def fewer(variant, arguments, counts):
    """The first heads of (B, MOST, ...), as many as each of q, k, v has; a state has one for each of k and v."""
    state, inputs = arguments
    own = dict(zip("qkv", counts, strict=True))
    few = {
        item.name: inputs[item.name][:, : own[item.heads]] if item.axes else inputs[item.name]
        for item in variant.inputs
    }
    return tuple(x[:, : max(own["k"], own["v"])] for x in state), few


def repeated(variant, arguments):
    """Every array with MOST heads: repeated, not tiled."""
    state, inputs = arguments
    many = {
        name: np.repeat(x, MOST // x.shape[1], axis=1) if variant.input(name).axes else x for name, x in inputs.items()
    }
    return tuple(np.repeat(x, MOST // x.shape[1], axis=1) for x in state), many


def every(state, counts):
    """The state of all heads without the repetitions."""
    return tuple(x[:, :: MOST // max(counts[1:])] for x in state)


@each_grouped([(v, form, counts) for v, counts in GROUPED for form in v.forms], ("variant", "form", "counts"))
def test_grouped_heads_are_repeated_heads(variant, form, counts):
    few = fewer(variant, over_floats(variant, leading=(2, MOST)), counts)
    (output, final), (want, want_state) = (
        prefill(variant, **inputs, initial_state=start_of(form, state), form=form, chunk_size=3)
        for state, inputs in (few, repeated(variant, few))
    )
    assert all_close((output, final), (want, every(want_state, counts)))


@each_grouped([(v, counts) for v, counts in GROUPED if counts in ((4, 2, 2), (2, 2, 4))], ("variant", "counts"))
def test_they_are_so_on_every_number_system(variant, counts):
    """Arranging and merging only moves numbers: the field elements are equal."""
    state, inputs = fewer(variant, over_field(variant, leading=(2, MOST)), counts)
    arranged = heads.arrange(variant, inputs)
    core = tuple(x.shape[2:] for x in state)
    start = tuple(x.reshape(arranged.leading + c) for x, c in zip(state, core, strict=True))
    got = heads.merge(variant, *forms.recurrent(variant, start, arranged.inputs), arranged.groups)
    want, output = forms.recurrent(variant, *repeated(variant, (state, inputs)))
    assert equal(got, (every(want, counts), output))


@EACH_VARIANT
def test_one_state_for_all_heads_is_repeated_too(variant):
    """Also where the batch is as large as the number of groups, so that its shape could be mistaken."""
    _, inputs = fewer(variant, over_floats(variant, leading=(2, MOST)), (4, 2, 2))
    state, _ = over_floats(variant, 1, leading=(2, 1))
    want = prefill(variant, **inputs, initial_state=tuple(np.repeat(x, 2, axis=1) for x in state))
    assert all_close(prefill(variant, **inputs, initial_state=state), want)


@EACH_VARIANT
def test_packed_sequences_of_grouped_heads_in_the_other_layout(variant):
    _, inputs = fewer(variant, over_floats(variant, leading=(1, MOST)), (4, 2, 2))
    output, finals = prefill(variant, **turned(variant, inputs), layout="BTHD", cu_seqlens=np.array([0, 2, 7]))
    for window, final in zip((slice(0, 2), slice(2, 7)), finals, strict=True):
        want = prefill(variant, **forms.take(variant, inputs, window))
        assert all_close((np.swapaxes(output, 1, 2)[:, :, window], final), want)


@EACH_VARIANT
def test_decoding_with_grouped_heads(variant):
    state, inputs = fewer(variant, over_floats(variant, leading=(2, MOST)), (4, 2, 2))
    want = prefill(variant, **forms.take(variant, inputs, slice(0, 2)), initial_state=state)
    first, state = decode(variant, **forms.take(variant, inputs, 0), initial_state=state)
    second, state = decode(variant, **forms.take(variant, inputs, 1), initial_state=state)
    assert all_close((np.stack([first, second], axis=-2), state), want)


@pytest.mark.parametrize("counts", [(4, 3, 3), (3, 2, 2), (4, 2, 3)], ids=str)
def test_counts_that_do_not_divide_are_refused(counts):
    linear = next(v for v in VARIANTS if v.name == "linear_attention")
    _, inputs = fewer(linear, over_floats(linear, leading=(2, MOST)), counts)
    found = ", ".join(f"'{name}': {n}" for name, n in zip("qkv", counts, strict=True))
    message = rf"^heads must be one count, or two of which one divides the other; got \{{{found}\}}$"
    with pytest.raises(ValueError, match=message):
        prefill(linear, **inputs)
