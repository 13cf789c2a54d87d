"""The records: complete, without contradiction, and in step with the functions that they describe."""

import inspect
import re
from dataclasses import replace

import numpy as np
import pytest
from drawing import EACH_VARIANT, WITH_BIDIRECTIONAL, equal, over_field

from linattn import VARIANTS, Input, Source, forms, variant
from linattn.numbers import field
from linattn.record import time_axis
from linattn.validate import DEFAULTS


def parameters(function):
    return list(inspect.signature(function).parameters)


@EACH_VARIANT
def test_the_functions_take_what_the_record_lists(variant):
    names = [item.name for item in (*variant.state, *variant.inputs)]
    assert parameters(variant.step) == names
    assert variant.parallel is None or parameters(variant.parallel) == names


@WITH_BIDIRECTIONAL
def test_the_bidirectional_routes_take_the_inputs_alone(variant):
    assert [parameters(route) for route in variant.bidirectional] == [[item.name for item in variant.inputs]] * 2


@EACH_VARIANT
def test_every_input_is_described_consistently(variant):
    for item in variant.inputs:
        low, high = item.domain or (-np.inf, np.inf)
        assert item.heads in ("q", "k", "v", "none")
        assert item.kind in ("number", "log", "angle", "count")
        assert item.role in ("data", "gate", "parameter")
        assert (item.heads == "none") == (item.axes == "")
        assert item.neutral is None or low <= item.neutral <= high
        assert item.singular is None or low <= item.singular <= high
        assert isinstance(item.default, float | int | None) or item.default in DEFAULTS
        assert item.doc
        assert set(item.axes.split()) <= {"T", "K", "V", "J", "D", "N", "R", "M", "L", "W", "1"}
    assert variant.erase in ("decayed", "undecayed", None)


NEUTRAL = ("retention", "simple_gla", "gla", "hadamard_gated_linear_attention", "gated_delta_rule", "kda", "rwkv6")


@pytest.mark.parametrize("name", NEUTRAL)
def test_a_neutral_decay_has_no_effect(name):
    """The state stays where nothing is written."""
    gated = variant(name)
    state, inputs = over_field(gated)
    still = {name: 0 * inputs[name] for name in ("v", "beta") if name in inputs}
    neutral = np.full(inputs["log_decay"].shape, field.Log(int(gated.input("log_decay").neutral)), dtype=object)
    final, _ = forms.parallel(gated, state, inputs | still | {"log_decay": neutral})
    assert all(np.array_equal(x, y) for x, y in zip(final, state, strict=True))


@EACH_VARIANT
def test_constraints_are_numbered_and_sources_are_places(variant):
    numbers = [constraint.split("  ")[0] for constraint in variant.constraints]
    assert numbers == [f"C{n + 1}" for n in range(len(numbers))]
    assert variant.sources
    assert all(re.fullmatch(r"\d{4}\.\d{4,5}|", source.arxiv) and source.where for source in variant.sources)
    assert variant.summary[0].islower()
    assert not variant.summary.endswith(".")


def test_a_source_in_words():
    source = Source("A Title", "Someone", 2020, "2001.00001", "equation (1)")
    assert str(source) == "Someone, 'A Title', 2020, arXiv:2001.00001: equation (1)"


def test_names_are_unique_and_found():
    names = [v.name for v in VARIANTS]
    assert len(set(names)) == len(names)
    assert all(variant(name).name == name for name in names)
    with pytest.raises(ValueError, match=rf"^variant must be one of {', '.join(names)}, or a file .*; got 'anaconda'$"):
        variant("anaconda")


def test_a_name_that_is_used_twice_is_refused():
    with pytest.raises(ValueError, match="gla: every input and state needs a name of its own"):
        replace(variant("gla"), inputs=(*variant("gla").inputs, Input("S", "", "again")))


@pytest.mark.parametrize(("axes", "axis"), [("T K", -2), ("T 1", -2), ("T", -1), ("K V", None), ("", None)])
def test_the_axis_of_time(axes, axis):
    assert time_axis(axes) == axis


@pytest.mark.parametrize(
    ("domain", "words"),
    [(None, "finite"), ((-np.inf, 0), "<= 0"), ((0, np.inf), ">= 0"), ((0, 2), "in [0, 2]")],
)
def test_a_domain_in_words(domain, words):
    assert Input("x", "", "a number", domain=domain).limits == words


def test_forms_follow_from_the_functions():
    assert variant("gla").forms == ("recurrent", "chunkwise", "parallel")
    assert variant("linear_attention").forms == ("recurrent", "chunkwise", "parallel", "bidirectional")


def test_a_variant_without_a_closed_form():
    """It has the recurrence alone, and says so."""
    gla = variant("gla")
    step_only = replace(gla, parallel=None)
    state, inputs = over_field(gla)
    assert step_only.forms == ("recurrent",)
    assert equal(forms.recurrent(step_only, state, inputs), forms.recurrent(gla, state, inputs))
    with pytest.raises(ValueError, match=r"^gla has no closed form over a sequence; use the recurrent form$"):
        forms.chunkwise(step_only, state, inputs)


MODULE = re.compile(r"(transformers|mlx-lm|llama\.cpp) \w[\w.-]*")


@EACH_VARIANT
def test_models_are_named_with_a_module(variant):
    assert all(model and MODULE.fullmatch(where) for model, where in variant.used_by.items())
