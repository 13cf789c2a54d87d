"""``prefill`` and ``decode``: layouts, leading axes, grouped heads, packed sequences and continuation change nothing.

All results are compared with the bare folds, up to the rounding of another order of the same sums.
"""

from itertools import combinations, pairwise

import numpy as np
import pytest
from drawing import EACH_FORM, EACH_VARIANT, SIZES, all_close, over_floats, start_of, turned

from linattn import VARIANTS, decode, forms, prefill
from linattn.validate import default

T = SIZES["T"]


def width(variant):
    """The number of channels of the output."""
    return SIZES[variant.output.split()[-1]]


def tokens(variant, inputs, window):
    """A piece of the sequence."""
    return forms.take(variant, inputs, window)


@pytest.mark.parametrize("leading", [(), (2,), (2, 3), (2, 1, 3)], ids=str)
@EACH_FORM
def test_any_number_of_leading_axes(variant, form, leading):
    state, inputs = over_floats(variant, leading=leading)
    output, final = prefill(variant, **inputs, initial_state=start_of(form, state), form=form, chunk_size=3)
    for at in np.ndindex(leading):
        own = {item.name: inputs[item.name][at] if item.axes else inputs[item.name] for item in variant.inputs}
        want_state, want = forms.run(variant, form, tuple(x[at] for x in state), own, 3)
        assert all_close((output[at], [x[at] for x in final]), (want, want_state))


@EACH_VARIANT
def test_leading_axes_broadcast(variant):
    """Every input with leading axes of its own, down to none; the state spans those of what is written, the output
    also those of what reads.
    """
    state, inputs = over_floats(variant, leading=(2, 3))
    written = [item.name for item in variant.inputs if item.heads in ("k", "v") and item.axes]
    cut = dict(zip(written, (np.s_[:1], np.s_[0], np.s_[0, 0]), strict=False))
    cut |= {item.name: np.s_[:, :] for item in variant.inputs if item.heads == "q"}
    narrow = {name: x[cut.get(name, np.s_[0])] if x.ndim else x for name, x in inputs.items()}
    wide = {
        item.name: np.broadcast_to(narrow[item.name], inputs[item.name].shape) if item.axes else narrow[item.name]
        for item in variant.inputs
    }
    output, final = prefill(variant, **narrow, initial_state=tuple(x[0] for x in state))
    want, want_state = prefill(variant, **wide, initial_state=tuple(np.stack([x[0]] * 2) for x in state))
    read = any(item.heads == "q" for item in variant.inputs)
    assert output.shape[:2] == (2 if read else 1, 3)
    assert all(x.shape[:2] == (1, 3) for x in final)
    assert all_close((output, final), (want[: len(output)], [x[:1] for x in want_state]))


@EACH_FORM
def test_no_tokens(variant, form):
    """No output, and the state that came in."""
    state, inputs = over_floats(variant, leading=(2, 3), T=0)
    output, final = prefill(variant, **inputs, initial_state=start_of(form, state), form=form)
    assert output.shape == (2, 3, 0, width(variant))
    assert output.dtype == float
    assert all(np.array_equal(x, y) for x, y in zip(final, state if final else (), strict=True))
    assert bool(final) == (form != "bidirectional")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@EACH_FORM
def test_the_dtype_stays(variant, form, dtype):
    """Of output and state, whatever the dtype of the scalars and of the initial state."""
    state, inputs = over_floats(variant, leading=(2,))
    inputs = {name: x.astype(dtype) if x.ndim else x for name, x in inputs.items()}
    output, final = prefill(variant, **inputs, initial_state=start_of(form, state), form=form, chunk_size=3)
    assert {x.dtype for x in (output, *final)} == {np.dtype(dtype)}
    empty, final = prefill(variant, **tokens(variant, inputs, slice(0, 0)), form=form)
    assert {x.dtype for x in (empty, *final)} == {np.dtype(dtype)}


@EACH_VARIANT
def test_absent_inputs_have_their_defaults(variant):
    _, inputs = over_floats(variant)
    explicit = {item.name: default(item, SIZES) for item in variant.inputs if item.default is not None}
    given = {name: x for name, x in inputs.items() if name not in explicit}
    assert all_close(prefill(variant, **given), prefill(variant, **given, **explicit))
    assert all_close(prefill(variant, **given, **dict.fromkeys(explicit)), prefill(variant, **given))


@EACH_VARIANT
def test_absent_is_the_initial_state_of_the_record(variant):
    state, inputs = over_floats(variant, P=0)
    start = tuple(np.full_like(x, item.initial) for x, item in zip(state, variant.state, strict=True))
    assert all_close(prefill(variant, **inputs), prefill(variant, **inputs, initial_state=start))
    if len(start) == 1:
        assert all_close(prefill(variant, **inputs), prefill(variant, **inputs, initial_state=start[0]))


@EACH_FORM
def test_packed_sequences_are_separate_ones(variant, form):
    """The second and the last are empty; some start from a state of their own."""
    state, inputs = over_floats(variant, leading=(2, 3))
    borders = [0, 3, 3, 7, 7]
    starts = [state, None, None, state]
    options = {"form": form, "chunk_size": 2}
    output, finals = prefill(variant, **inputs, initial_state=start_of(form, starts), cu_seqlens=borders, **options)
    assert isinstance(finals, list)
    for n, (start, stop) in enumerate(pairwise(borders)):
        piece = tokens(variant, inputs, slice(start, stop))
        want = prefill(variant, **piece, initial_state=start_of(form, starts[n]), **options)
        assert all_close((output[:, :, start:stop], finals[n]), want)


@EACH_VARIANT
def test_decoding_token_by_token_is_prefill(variant):
    state, inputs = over_floats(variant, leading=(2, 3))
    want = prefill(variant, **inputs, initial_state=state)
    outputs = []
    for t in range(T):
        output, state = decode(variant, **tokens(variant, inputs, t), initial_state=state)
        outputs.append(output)
    assert all_close((np.stack(outputs, axis=-2), state), want)


@EACH_FORM
def test_the_other_layout(variant, form):
    state, inputs = over_floats(variant, leading=(2, 3))
    start = start_of(form, state)
    output, final = prefill(variant, **turned(variant, inputs), initial_state=start, form=form, layout="BTHD")
    assert output.shape == (2, T, 3, width(variant))
    want = prefill(variant, **inputs, initial_state=start, form=form)
    assert all_close((np.swapaxes(output, 1, 2), final), want)


FORMS_OF_BOTH = [("chunkwise", "recurrent"), ("parallel", "chunkwise"), ("recurrent", "parallel")]


def pairs(variant):
    return [pair for pair in FORMS_OF_BOTH if {*pair} <= {*variant.forms}] or [("recurrent", "recurrent")]


@pytest.mark.parametrize("cut", [0, 1, 4, T])
@pytest.mark.parametrize(
    ("variant", "forms_of_both"),
    [(v, pair) for v in VARIANTS for pair in pairs(v)],
    ids=[f"{v.name}-{first}-{second}" for v in VARIANTS for first, second in pairs(v)],
)
def test_any_form_continues_where_another_stopped(variant, forms_of_both, cut):
    state, inputs = over_floats(variant, leading=(2, 3))
    want = prefill(variant, **inputs, initial_state=state)
    outputs = []
    for form, window in zip(forms_of_both, (slice(0, cut), slice(cut, T)), strict=True):
        output, state = prefill(
            variant, **tokens(variant, inputs, window), initial_state=state, form=form, chunk_size=2
        )
        outputs.append(output)
    assert all_close((np.concatenate(outputs, axis=-2), state), want)


@EACH_VARIANT
def test_arguments_are_left_as_they_were(variant):
    """Read-only arrays go in, and results share no memory with them or with each other."""
    state, inputs = over_floats(variant, leading=(2, 3))
    for array in (*state, *inputs.values()):
        array.setflags(write=False)
    output, final = prefill(variant, **inputs, initial_state=state)
    others = (*state, *inputs.values())
    assert not any(np.shares_memory(x, y) for x in (output, *final) for y in others)
    assert not any(np.shares_memory(x, y) for x, y in combinations((output, *final), 2))
