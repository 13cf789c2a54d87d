"""Drawn cases: their inputs are what their text says, and a text that describes nothing is refused."""

import numpy as np
import pytest
from drawing import EACH_VARIANT
from drawn_sizes import ONE

import linattn
from linattn_spec import drawn, relative, strategies
from linattn_spec.profiles import PROFILES
from linattn_spec.verdict import truth

GATED = linattn.variant("gated_delta_rule")


def of(text):
    return strategies.example(GATED, f"drawn({text})").data.inputs


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
