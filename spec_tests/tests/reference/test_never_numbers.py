"""Bad input never gives numbers, and good input always does: any variant, input, form, and place in the array."""

import random

import numpy as np
import pytest
from drawing import EACH_FORM, EACH_VARIANT, over_floats, start_of

from linattn import prefill, variant

SPOILS = {  # of which inputs, and how; ``at`` is True at one element
    "nan": (lambda item: True, lambda item, x, at: np.where(at, np.nan, x)),
    "inf": (lambda item: True, lambda item, x, at: np.where(at, np.inf, x)),
    "-inf": (lambda item: limits(item)[0] != -np.inf, lambda item, x, at: np.where(at, -np.inf, x)),
    "beyond": (lambda item: bounded(item, 1), lambda item, x, at: np.where(at, item.domain[1] + 0.5, x)),
    "below": (lambda item: bounded(item, 0), lambda item, x, at: np.where(at, item.domain[0] - 0.5, x)),
    "integers": (lambda item: True, lambda item, x, at: at.astype(int)),
    "booleans": (lambda item: True, lambda item, x, at: at),
    "text": (lambda item: True, lambda item, x, at: "0.5"),
    "number or array": (lambda item: True, lambda item, x, at: np.ones(2) if x.ndim == 0 else 0.0),
    "one token more": (lambda item: item.time, lambda item, x, at: np.concatenate([x, x[..., :1, :]], axis=-2)),
    "missing": (lambda item: item.default is None, lambda item, x, at: None),
}


def limits(item):
    """Where there is no domain, all that is finite is inside."""
    return item.domain or (np.nan, np.nan)


def bounded(item, side):
    return np.isfinite(limits(item)[side])


def spoils(variant):
    """All that can be wrong with its inputs. One token more is right where no other input has tokens."""
    alone = sum(item.time is not None for item in variant.inputs) == 1
    for item in variant.inputs:
        for name, (applies, spoil) in SPOILS.items():
            if applies(item) and not (alone and name == "one token more"):
                yield item, name, spoil


@EACH_VARIANT
def test_bad_input_never_gives_numbers(variant):
    """The message names the input; one with another number of tokens may be blamed on its neighbour."""
    rng = random.Random(variant.name)
    for item, name, spoil in spoils(variant):
        _, inputs = over_floats(variant, leading=(2,))
        array = np.asarray(inputs[item.name])
        at = np.arange(array.size).reshape(array.shape) == rng.randrange(array.size)
        inputs[item.name] = spoil(item, array, at)
        with pytest.raises(ValueError, match=r"T=" if name == "one token more" else rf"^{item.name} "):
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
