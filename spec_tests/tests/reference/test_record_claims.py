"""What the records claim of channels, linearity, sizes and derivatives, over the field where it is an identity."""

import re

import numpy as np
import pytest
from drawing import EACH_VARIANT, each, over_field, over_floats

from linattn import VARIANTS, api, decode, forms, prefill
from linattn.numbers import tape

POINTS = (0, 1)
WITH_SIZES = each(v for v in VARIANTS if v.sizes)
LINEAR = [v for v in VARIANTS if v.linear_in]


def run(variant, numbers):
    """The recurrence as a function of one dictionary: all results by name, the output last."""
    state, output = forms.recurrent(
        variant, tuple(numbers[s.name] for s in variant.state), {i.name: numbers[i.name] for i in variant.inputs}
    )
    return dict(zip((s.name for s in variant.state), state, strict=True)) | {"output": output}


def point(variant, seed):
    """State and inputs in one dictionary."""
    state, inputs = over_field(variant, seed)
    return dict(zip((s.name for s in variant.state), state, strict=True)) | inputs


def own(axes, channel, shape):
    """Where an array holds what belongs to the first channel alone, or to none."""
    where = np.ones(shape, dtype=bool)
    for at, axis in enumerate(axes.split()):
        if axis == channel:
            where &= np.arange(shape[at]).reshape(-1, *(1,) * (len(shape) - at - 1)) == 0
    return where


@EACH_VARIANT
def test_channels_mix_exactly_where_the_record_says_so(variant):
    """All that belongs to the other channels is replaced, in inputs, parameters and state."""
    channel = variant.output.split()[-1]
    first, second = (point(variant, seed) for seed in POINTS)
    mixed = {
        item.name: np.where(own(item.axes, channel, np.shape(first[item.name])), first[item.name], second[item.name])[
            ()
        ]
        for item in (*variant.state, *variant.inputs)
    }
    before, after = (run(variant, numbers)["output"] for numbers in (first, mixed))
    assert not np.array_equal(before[..., 1:], after[..., 1:])
    assert np.array_equal(before[..., 0], after[..., 0]) != variant.mixing


def combined(variant, names, weights):
    """Whether a combination of two points in these inputs and states, all else being equal, gives the same
    combination of the outputs and of those states, and no other state.
    """
    first, second = (point(variant, seed) for seed in POINTS)
    second = first | {name: second[name] for name in names}
    a, b = weights
    both = first | {name: a * first[name] + b * second[name] for name in names}
    x, y, z = (run(variant, numbers) for numbers in (first, second, both))
    linear = {"output", *names}
    return all(np.array_equal(z[name], a * x[name] + b * y[name] if name in linear else x[name]) for name in z)


@each(LINEAR)
@pytest.mark.parametrize("weights", [(2, 0), (3, -5)], ids=["doubling", "superposition"])
def test_what_the_record_calls_linear_is(variant, weights):
    assert combined(variant, variant.linear_in, weights)


@pytest.mark.parametrize(
    ("variant", "name"), [(v, name) for v in LINEAR for name in v.linear_in], ids=lambda x: getattr(x, "name", x)
)
def test_only_all_together(variant, name):
    """Without one of them it is not, so that none is listed in vain."""
    assert not combined(variant, tuple(x for x in variant.linear_in if x != name), (2, 0))


@each(v for v in VARIANTS if not v.linear_in)
def test_the_others_are_not_linear_in_their_values(variant):
    """With or without all states that hold numbers."""
    values = tuple(i.name for i in variant.inputs if i.role == "data" and variant.output.split()[-1] in i.axes.split())
    states = tuple(s.name for s in variant.state if s.kind == "number")
    assert values
    assert not combined(variant, values, (2, 0))
    assert not combined(variant, (*values, *states), (2, 0))


WRONG = {"2 * R <= K": ({"K": 5, "R": 3}, {"K": 4, "R": 2})}  # sizes that are refused, and some that are just accepted


@WITH_SIZES
def test_sizes_that_do_not_go_together_are_refused(variant):
    refused, accepted = WRONG[variant.sizes]
    found = ", ".join(f"{axis}={size}" for axis, size in refused.items())
    message = re.escape(f"the axes of {variant.name} must satisfy {variant.sizes}; got {found}")
    _, inputs = over_floats(variant, **refused)
    with pytest.raises(ValueError, match=f"^{message}$"):
        prefill(variant, **inputs)
    with pytest.raises(ValueError, match=f"^{message}$"):
        decode(variant, **forms.take(variant, inputs, 0))
    prefill(variant, **over_floats(variant, **accepted)[1])


@EACH_VARIANT
def test_sizes_are_of_its_axes(variant):
    axes = {axis for item in variant.inputs for axis in item.axes.split()}
    assert set(re.findall("[A-Z]", variant.sizes)) <= axes


@EACH_VARIANT
def test_the_usual_form_is_that_of_prefill(variant, monkeypatch):
    """By chunks, or token by token where there is no closed form."""
    asked, run_form = [], forms.run
    monkeypatch.setattr(api.forms, "run", lambda *x: asked.append(x[1]) or run_form(*x))
    prefill(variant, **over_floats(variant)[1])
    assert asked == [variant.usual_form] == ["chunkwise" if "chunkwise" in variant.forms else "recurrent"]


@pytest.mark.parametrize(
    ("variant", "item"), [(v, i) for v in VARIANTS for i in v.inputs if i.singular is not None], ids=lambda x: x.name
)
def test_at_a_singular_value_there_is_no_derivative(variant, item):
    """Nothing is left out for less: the gradient is not a number there, and one everywhere else."""
    state, inputs = over_floats(variant)
    with np.errstate(divide="ignore", invalid="ignore"):
        gradient = tape.gradients(
            lambda x: {"output": forms.recurrent(variant, state, inputs | x)[1]},
            {item.name: inputs[item.name]},
            {"output": np.ones_like(forms.recurrent(variant, state, inputs)[1])},
        )[item.name]
    at = inputs[item.name] == item.singular
    assert at.any()
    assert not at.all()
    assert np.array_equal(~np.isfinite(gradient.astype(float)), at)
