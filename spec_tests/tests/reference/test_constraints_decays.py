"""The constraints of the records on decays."""

import re
from pathlib import Path

import numpy as np
import pytest
from drawing import agree, close, each, equal, having, over_field, over_floats, resets

from linattn import VARIANTS, forms, prefill, variant
from linattn.numbers import field

RESETTING = [v for v in VARIANTS if resets(v)]
FORGET = field.Log(None)


@having("log_decay")
def test_a_positive_log_decay_is_refused(variant):
    """retention C1, simple_gla C1, gla C1, gated_delta_rule C1, kda C1."""
    _, inputs = over_floats(variant)
    with pytest.raises(ValueError, match=r"^log_decay must be <= 0 \(natural log\); got max 0.25 at \[.*\]$"):
        prefill(variant, **inputs | {"log_decay": np.full_like(inputs["log_decay"], 0.25)})


@each(RESETTING)
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """simple_gla C3, gla C3, gated_delta_rule C5, kda C5."""
    state, inputs = over_field(variant)
    inputs["log_decay"][t] = FORGET
    final, output = forms.chunkwise(variant, state, inputs, 3)
    later = forms.take(variant, inputs, slice(t, None))
    assert equal((final, output[t:]), forms.recurrent(variant, tuple(x - x for x in state), later))


@each(RESETTING)
@pytest.mark.parametrize("form", ["recurrent", "chunkwise", "parallel"])
def test_minus_infinity_forgets_any_finite_state_of_floats(variant, form):
    """The same in float64, with a state that would drown everything."""
    state, inputs = over_floats(variant)
    inputs["log_decay"][2] = -np.inf
    later = forms.take(variant, inputs, slice(2, None))
    want_state, want = forms.recurrent(variant, tuple(0 * x for x in state), later)
    final, output = forms.run(variant, form, tuple(1e300 * x for x in state), inputs, chunk_size=3)
    assert close(output[2:], want)
    assert all(close(x, y) for x, y in zip(final, want_state, strict=True))


def test_retention_that_keeps_nothing():
    """retention C3: o_t = scale (q_t.k_t) v_t, by every route."""
    retention = variant("retention")
    state, inputs = over_field(retention)
    inputs["log_decay"][0] = FORGET
    own = inputs["scale"] * (inputs["q"] * inputs["k"]).sum(axis=-1, keepdims=True)
    assert np.array_equal(forms.recurrent(retention, state, inputs)[1], own * inputs["v"])
    assert agree(retention, (state, inputs))


def test_every_constraint_of_every_record_is_cited_by_a_test():
    """A constraint that nobody tests is a wish. They are cited as "gla C1, C3"."""
    text = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    cited = {
        f"{name} {number}"
        for name, numbers in re.findall(r"\b(\w+)((?:,?\s+C\d+\b)+)", text)
        for number in re.findall(r"C\d+", numbers)
    }
    wanted = [f"{v.name} {constraint.split()[0]}" for v in VARIANTS for constraint in v.constraints]
    assert [name for name in wanted if name not in cited] == []
