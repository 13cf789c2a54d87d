"""Cases drawn from a record: valid, varied, plain where they shrink to, and made again from their text."""

from dataclasses import replace

import numpy as np
import pytest
from drawing import EACH_VARIANT
from hypothesis import find, given, settings
from hypothesis import strategies as st

import linattn
from linattn.inputs import KEY, MEMORY, QUERY, VALUE
from linattn.record import Input, State
from linattn.variants import linear_attention
from linattn_spec import drawn, relative, strategies
from linattn_spec.profiles import PROFILES
from linattn_spec.verdict import truth

GATED = linattn.variant("gated_delta_rule")
ONE = "B=1,T=1,Hq=1,Hk=1,Hv=1,K=1,V=1"  # the smallest case of all


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


@EACH_VARIANT
def test_every_input_is_exact_in_every_dtype_that_it_may_have(variant):
    """Gates are float32 in all profiles, everything else may be bfloat16."""
    for item in (item for item in variant.inputs if item.axes):
        for kind in (item.typical, *strategies.ALTERNATIVES.get(item.typical, ())):
            sizes = dict(zip(drawn.axes_of(variant), (2, 7, 2, 2, 2, 5, 3, 2), strict=False))
            fields = sizes | {drawn.field_of(variant, item): kind}
            x = strategies.example(variant, drawn.scenario(fields)).data.inputs[item.name]
            assert np.array_equal(x, x.astype(np.float32))
            assert item.role != "data" or not (x.astype(np.float32).view(np.uint32) & 0xFFFF).any()


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


def of(text):
    return strategies.example(GATED, f"drawn({text})").data.inputs


def test_fewer_tokens_are_the_first_ones_of_more():
    """So that what fails still fails when it is made shorter."""
    for name in ("q", "k", "v", "log_decay", "beta"):
        assert np.array_equal(of(ONE.replace("T=1", "T=3"))[name], of(ONE.replace("T=1", "T=9"))[name][:, :, :3])


def test_seeds_tell_cases_apart():
    assert not np.array_equal(of(f"{ONE},seed=1")["q"], of(f"{ONE},seed=2")["q"])
    assert np.array_equal(of(f"{ONE},seed=0")["q"], of(ONE)["q"])


LONG = "B=2,T=64,Hq=2,Hk=2,Hv=2,K=4,V=3"


def test_repeated_is_one_token_over_and_over():
    k = of(f"{LONG},k=repeated")["k"]
    assert (k == k[:, :, :1]).all()
    assert np.array_equal(k[:, :, 0], of(LONG)["k"][:, :, 0])


def test_mixed_gates_are_of_all_kinds_in_any_order():
    """Each of five kinds at 256 places: one is missing with a chance of 5 * 0.8**256, below 1e-23."""
    g = of(f"{LONG},log_decay=mixed")["log_decay"]
    assert np.isinf(g).any()
    assert (g == 0).any()
    assert ((g < -1) & np.isfinite(g)).any()
    assert ((g >= -1) & (g < 0)).any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("drawn()", r"a drawn case must read drawn\(B=1,T=3,...\); got 'drawn\(\)'"),
        ("drawn(B=1,T)", r"a drawn case must read drawn\(B=1,T=3,...\); got 'drawn\(B=1,T\)'"),
        ("drawn(B=1,T=3)", "Hq must be a whole number, at least 1; got ''"),
        (f"drawn({ONE.replace('K=1', 'K=0')})", "K must be a whole number, at least 1; got '0'"),
        (f"drawn({ONE},D=3)", "gated_delta_rule has no D"),
        (f"drawn({ONE},k=keys)", "k must be one of bell, .*; got 'keys'"),
        (f"drawn({ONE},scale=big)", "scale must be a number; got 'big'"),
        (f"drawn({ONE},initial_state=old)", "gated_delta_rule has no initial_state=old"),
    ],
)
def test_a_text_that_describes_nothing(text, message):
    with pytest.raises(ValueError, match=message):
        strategies.example(GATED, text)


@EACH_VARIANT
def test_balls_enclose_what_float64_computes(variant):
    """Up to the noise of float64 itself, in whose units the errors stay below the limit of an element."""
    fields = dict(zip(drawn.axes_of(variant), (2, 9, 2, 2, 2, 4, 3, 2), strict=False)) | {"initial_state": "drawn"}
    example = strategies.example(variant, drawn.scenario(fields))
    computed = truth(variant, PROFILES["fp64"], "recurrent", example.data.inputs, example.data.initial_state)
    proven = relative.absolute(variant, drawn.enclosed(variant, example.data, "recurrent"))
    assert proven.keys() == computed.values.keys()
    for name, x in proven.items():
        assert x.shape == computed.values[name].shape
        assert np.abs((x - computed.values[name]) / computed.units[name]).max() < 24
