"""Bad input never gives numbers, and good input always does: any variant, input, form, and place in the array."""

import numpy as np
import pytest
from drawing import EACH_FORM, over_floats, start_of
from hypothesis import given, settings
from hypothesis import strategies as st

from linattn import VARIANTS, prefill, variant

SPOILS = {  # of which inputs, and how; ``at`` is True at one element
    "nan": (lambda item: True, lambda x, at: np.where(at, np.nan, x)),
    "inf": (lambda item: True, lambda x, at: np.where(at, np.inf, x)),
    "-inf": (lambda item: item.name != "log_decay", lambda x, at: np.where(at, -np.inf, x)),
    "beyond": (lambda item: item.domain and np.isfinite(item.domain[1]), lambda x, at: np.where(at, 2.5, x)),
    "below": (lambda item: item.domain and np.isfinite(item.domain[0]), lambda x, at: np.where(at, -0.5, x)),
    "integers": (lambda item: True, lambda x, at: at.astype(int)),
    "booleans": (lambda item: True, lambda x, at: at),
    "text": (lambda item: True, lambda x, at: "0.5"),
    "number or array": (lambda item: True, lambda x, at: np.ones(2) if x.ndim == 0 else 0.0),
    "one token more": (lambda item: item.time, lambda x, at: np.concatenate([x, x[..., :1, :]], axis=-2)),
    "missing": (lambda item: item.default is None, lambda x, at: None),
}
SPOILED = [(v, item, spoil) for v in VARIANTS for item in v.inputs for spoil, (of, _) in SPOILS.items() if of(item)]


@settings(max_examples=400)
@given(st.sampled_from(SPOILED), st.randoms(use_true_random=False))
def test_bad_input_never_gives_numbers(spoiled, rng):
    """The message names the input; one with another number of tokens may be blamed on its neighbour."""
    variant, item, spoil = spoiled
    _, inputs = over_floats(variant, leading=(2,))
    array = np.asarray(inputs[item.name])
    at = np.arange(array.size).reshape(array.shape) == rng.randrange(array.size)
    inputs[item.name] = SPOILS[spoil][1](array, at)
    with pytest.raises(ValueError, match=r"T=" if spoil == "one token more" else rf"^{item.name} "):
        prefill(variant, **inputs, form=rng.choice(variant.forms))


@pytest.mark.parametrize("tokens", [1, 2, 7, 33])
@EACH_FORM
def test_good_input_always_does(variant, form, tokens):
    """All values are finite, with decays of -inf and 0."""
    state, inputs = over_floats(variant, leading=(2,), T=tokens)
    output, final = prefill(variant, **inputs, initial_state=start_of(form, state), form=form)
    assert all(np.isfinite(x).all() for x in (output, *final))


@pytest.mark.parametrize("form", variant("softmax_attention").forms)
def test_scores_beyond_the_exponential_do_not_overflow(form):
    """Scores of thousands: the weights are relative to the largest one. Warnings are errors here."""
    softmax = variant("softmax_attention")
    state, inputs = over_floats(softmax, T=33)
    output, _ = prefill(softmax, **inputs | {"scale": 1000.0}, initial_state=start_of(form, state), form=form)
    assert np.isfinite(output).all()
