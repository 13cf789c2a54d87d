"""Cases drawn from a record: valid, varied, plain where they shrink to, and made again from their text."""

from dataclasses import replace

import numpy as np
import pytest
from drawn_sizes import ONE
from hypothesis import find, given, settings
from hypothesis import strategies as st

import linattn
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Input, State
from linattn.variants import linear_attention
from linattn_spec import strategies

GATED = linattn.variant("gated_delta_rule")


def step(S, slots, q, k, v, mix, keep, power):
    """A researcher's own: a mixture of what the memory reads and of constant slots."""
    S = keep[..., None] * S + k[..., :, None] * v[..., None, :]
    read = (q[..., None, :] @ S)[..., 0, :]
    return (S, slots), power * read + (mix[..., None, :] @ slots)[..., 0, :]


MINE = replace(
    linear_attention.VARIANT,
    name="mine",
    step=step,
    parallel=None,
    bidirectional=None,
    inputs=(
        QUERY,
        KEY,
        VALUE,
        Input("mix", "T M", "weights of the slots", heads="v", domain=(0, np.inf), typical="positive"),
        Input("keep", "T 1", "what is kept", heads="v", domain=(0, 1), neutral=1, role="gate", typical="strength"),
        Input("power", "", "factor on the read", domain=(0.5, 2), role="parameter"),
    ),
    state=(MEMORY, State("slots", "M V", "constants")),
)


def arrays(example):
    start = dict(enumerate(example.data.initial_state or ()))
    return {**example.data.inputs, **start}


def same(one, other):
    assert one.keys() == other.keys()
    return all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("variant", [*linattn.VARIANTS, MINE], ids=lambda variant: variant.name)
@settings(max_examples=30)
@given(st.data())
def test_what_is_drawn_is_valid_and_made_again_from_its_text(variant, data):
    example = data.draw(strategies.inputs(variant))
    dims = example.case.dims
    with np.errstate(invalid="ignore", divide="ignore"):  # without a weight there is no mean
        output, _ = linattn.prefill(
            variant, form="recurrent", initial_state=example.data.initial_state, **example.data.inputs
        )
    heads = max(dims[f"H{item.heads}"] for item in variant.inputs if item.heads != "none")
    assert output.shape == (dims["B"], heads, dims["T"], dims[variant.output.split()[-1]])
    assert same(arrays(strategies.example(variant, repr(example))), arrays(example))


GATES = ("zero", "never", "slow", "strong", "medium-f32", "spike-f32", "reset", "mixed")
EVERYTHING = (
    *(f"log_decay={gates}" for gates in GATES),
    *(f"beta={strength}" for strength in ("one", "zero", "strength-to-2", "strength-0-1-2")),
    *(f"k={keys}" for keys in ("one-hot", "short-unit", "repeated", "zero")),
    "scale=0.25",
    "initial_state=drawn",
)


@pytest.mark.parametrize("part", EVERYTHING)
def test_everything_is_drawn_and_what_does_not_matter_shrinks_to_the_plainest(part):
    found = find(strategies.inputs(GATED), lambda example: part in repr(example), settings=settings(max_examples=500))
    assert repr(found) == f"gated_delta_rule/drawn({ONE},{part})"


@pytest.mark.parametrize(("axis", "least"), [("T", 1), ("T", 17), ("T", 65), ("K", 5), ("V", 16), ("B", 2), ("Hk", 2)])
def test_every_size_shrinks_by_itself(axis, least):
    found = find(strategies.inputs(GATED), lambda example: example.case.dims[axis] >= least)
    heads = {"Hq": 2, "Hv": 2} if axis == "Hk" else {}  # as many as there are keys, where no more are needed
    assert found.case.dims == dict.fromkeys(("B", "T", "Hq", "Hk", "Hv", "K", "V"), 1) | heads | {axis: least}


KERNEL = "K in (64, 128) and V == K and T % 64 == 0 and Hq == Hk"


@settings(max_examples=20)
@given(strategies.inputs(GATED, KERNEL))
def test_nothing_is_drawn_beyond_what_is_accepted(example):
    assert eval(KERNEL, {}, example.case.dims)


@settings(max_examples=20)
@given(strategies.inputs(GATED, T=range(30, 40), K=(3,)))
def test_a_user_chooses_sizes(example):
    assert example.case.dims["K"] == 3
    assert 30 <= example.case.dims["T"] < 40


@settings(max_examples=20)
@given(strategies.inputs(GATED, without=("log_decay", "beta", "scale", "initial_state")))
def test_what_may_not_be_set_has_no_effect(example):
    inputs = example.data.inputs
    assert not inputs["log_decay"].any()
    assert (inputs["beta"] == 1).all()
    assert "scale" not in inputs
    assert example.data.initial_state is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"accepts": "K > 1000"}, r"no sizes of .* satisfy \(K > 1000\)"),
        ({"D": (1, 2)}, "gated_delta_rule has no axis D; it has B, T, Hq, Hk, Hv, K, V"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        find(strategies.inputs(GATED, **arguments), lambda _: True)
