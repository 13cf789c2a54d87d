"""Minus infinity less minus infinity: memories relative to exp(m) that hold nothing, and weights of any size."""

import numpy as np
import pytest
from memories import SLOTS, STABILISED, inside

from linattn import prefill

PLACES = [(v, form) for v in (*STABILISED, *SLOTS) for form in v.forms if form != "bidirectional"]
EACH = pytest.mark.parametrize(("variant", "form"), PLACES, ids=[f"{v.name} {form}" for v, form in PLACES])
WEIGHTS = {"mlstm": "log_input", "rwkv4": "k", "exp_linear_attention": "k", "lightnet": "k", "slstm": "i", "abc": "s"}


def sequence(variant, dtype=np.float64, **sizes):
    _, x = inside(variant, leading=(1,), **sizes)
    return {name: np.asarray(value, dtype) if np.ndim(value) else value for name, value in x.items()}


def nothing(variant, final):
    """The initial values of the record."""
    return all(np.array_equal(x, np.full_like(x, s.initial)) for x, s in zip(final, variant.state, strict=True))


@EACH
def test_no_tokens_from_the_empty_state_leave_it_empty(variant, form):
    output, final = prefill(variant, **sequence(variant, T=0), form=form)
    assert output.size == 0
    assert nothing(variant, final)


@EACH
def test_empty_sequences_between_others_hold_nothing(variant, form):
    x = sequence(variant)
    packed, states = prefill(variant, **x, form=form, cu_seqlens=[0, 0, 3, 3, 7, 7])
    assert all(nothing(variant, states[n]) for n in (0, 2, 4))
    for n, (start, stop) in {1: (0, 3), 3: (3, 7)}.items():
        timed = {item.name for item in variant.inputs if item.time is not None}
        alone, final = prefill(variant, **{k: v[:, start:stop] if k in timed else v for k, v in x.items()}, form=form)
        assert np.array_equal(packed[:, start:stop], alone)
        assert all(map(np.array_equal, states[n], final))


@pytest.mark.parametrize("size", [-80.0, 80.0, 1e4])
@EACH
def test_log_weights_of_any_size_give_numbers_in_single_precision(variant, form, size):
    if variant.name not in WEIGHTS:
        pytest.skip("its weights are no exponentials")
    x = sequence(variant, np.float32)
    name = WEIGHTS[variant.name]
    for moved in (x[name] + np.float32(size), x[name] * np.float32(abs(size))):
        output, final = prefill(variant, **x | {name: moved}, form=form)
        assert np.isfinite(output).all()
        assert not any(np.isnan(tensor).any() for tensor in final)
