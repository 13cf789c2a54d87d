"""The constraints of the records of the relatives of softmax attention."""

import numpy as np
import pytest
from delta_and_softmax import (
    SOFTMAX,
    empty,
    functions_of_numbers,  # noqa: F401
    in_field,
    inside,
    unit,
)
from drawing import close, each, over_field

from linattn import forms, prefill
from linattn.numbers import field
from linattn.variants import iplr

FOX, ALIBI, PATH, DELTAFORMER, *_ = SOFTMAX


@each([FOX, PATH])
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """fox C3, path C6."""
    state, inputs = over_field(variant)
    inputs["log_decay"][t] = field.Log(None)
    later = forms.take(variant, inputs, slice(t, None))
    output = forms.chunkwise(variant, state, inputs, 3)[1]
    assert np.array_equal(output[t:], forms.recurrent(variant, empty(state), later)[1])


@each([FOX, PATH])
@pytest.mark.parametrize("form", ["recurrent", "parallel"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_is_forgotten_may_have_had_any_score(variant, form, dtype):
    """Not even an overflow of its weight is seen."""
    state, inputs = inside(variant)
    inputs |= {name: np.zeros_like(inputs[name]) for name in ("log_decay", "w", "beta") if name in inputs}
    inputs["k"][2], inputs["q"][:] = 1e4, np.abs(inputs["q"])
    inputs["log_decay"][3] = -np.inf
    given = {name: x.astype(dtype) for name, x in (inputs | {"scale": np.asarray(1.0)}).items()}
    later = forms.take(variant, given, slice(3, None))
    output = forms.run(variant, form, empty(state), given)[1][3:]
    want = forms.recurrent(variant, empty(state), later)[1]
    assert np.allclose(output, want, rtol=1e-5 if dtype == np.float32 else 1e-13)


@each([FOX, ALIBI])
def test_the_output_lies_in_the_convex_hull_of_the_values(variant):
    """fox C4, alibi C3; DeltaFormer leaves it: deltaformer C5."""
    state, x = inside(variant)
    output = forms.parallel(variant, empty(state), x)[1]
    for t in range(len(output)):
        seen = x["v"][: t + 1]
        assert np.all((seen.min(axis=0) - 1e-12 <= output[t]) & (output[t] <= seen.max(axis=0) + 1e-12))


def test_equal_values_are_corrected_away():
    """deltaformer C4, deltaformer C5: the second output is half the value, outside of its hull."""
    state, x = over_field(DELTAFORMER)
    x["v"][:], x["beta"] = x["v"][0], 0 * x["beta"] + 1
    (_, values), _ = forms.parallel(DELTAFORMER, empty(state), x)
    assert np.array_equal(values[0], x["v"][0])
    assert np.all(values[1] == 0)
    _, plain = inside(DELTAFORMER)
    plain |= {"v": 1 + 0 * plain["v"], "beta": 1 + 0 * plain["beta"], "k": 0 * plain["k"]}
    assert close(forms.parallel(DELTAFORMER, (plain["k"][:0], plain["v"][:0]), plain)[1][1], 0.5 + 0 * plain["v"][1])


def test_equal_scores_leave_the_slope_alone():
    """alibi C4."""
    state, x = inside(ALIBI)
    output = forms.parallel(ALIBI, empty(state), x | {"k": 0 * x["k"]})[1]
    weights = np.exp(-x["slope"] * np.arange(6, -1, -1))
    assert close(output[-1], weights @ x["v"] / weights.sum())


def test_slopes_may_differ_where_heads_share_a_cache():
    """alibi: four query heads, two heads of keys and values."""
    _, x = inside(ALIBI, leading=(4,))
    x |= {name: x[name][:2] for name in ("k", "v")}
    output, (keys, _) = prefill(ALIBI, **x)
    assert keys.shape == (2, 7, 5)
    for head in range(4):
        own = {name: a[head // 2 if name in ("k", "v") else head] if a.ndim else a for name, a in x.items()}
        assert close(output[head], prefill(ALIBI, **own)[0])


@pytest.mark.parametrize(("name", "wrong"), [("slope", -0.25), ("beta", 2.5), ("beta", -0.5)])
def test_parameters_outside_of_their_domain_are_refused(name, wrong):
    """alibi C1, path C1."""
    variant = ALIBI if name == "slope" else PATH
    _, inputs = inside(variant)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(variant, **inputs | {name: np.full_like(inputs[name], wrong)})


def test_full_reflections_keep_the_lengths_of_the_cache():
    """path C3."""
    state, x = inside(PATH)
    x |= {"w": unit(7, 5), "beta": 2 + 0 * x["beta"]}
    (keys, _, _), _ = forms.parallel(PATH, state, x)
    lengths = np.linalg.norm(np.concatenate([state[0], x["k"]]), axis=-1)
    assert close(np.linalg.norm(keys, axis=-1), lengths)


def test_a_key_hides_equal_ones():
    """path C4: in the exponents, whose ring has no unit vectors but these."""
    state, x = in_field(PATH)
    one_hot = np.array([field.Log(int(n == 2)) for n in range(5)], dtype=object)
    x["beta"] = np.array([[field.Log(1)]] * 7, dtype=object)
    x["k"][[1, 4]] = one_hot
    x["w"][4], x["w"][2:4] = one_hot, 0 * x["w"][2:4]
    (keys, _, _), _ = forms.parallel(PATH, state, forms.take(PATH, x, slice(0, 5)))
    assert np.array_equal(keys[-4], 0 * one_hot)
    assert np.array_equal(keys[-1], one_hot)


def test_the_scores_of_path_are_those_of_the_delta_rule():
    """path C5: as a memory with a value channel for every key."""
    _, x = in_field(PATH)
    eye = np.eye(7, dtype=object)
    inputs = {name: x[name] for name in ("q", "k", "scale")} | {"v": eye, "a": x["w"], "b": -x["beta"] * x["w"]}
    scores = forms.recurrent(iplr.VARIANT, (0 * x["k"].T,), inputs)[1]
    assert np.array_equal(scores[6, 2], x["scale"] * (x["q"][6] @ keys_after(x, 2)))


def keys_after(x, s):
    """The key of token s as the last token finds it."""
    k = x["k"][s]
    for r in range(s + 1, len(x["k"])):
        k = k - x["beta"][r] * x["w"][r] * (x["w"][r] @ k)
    return k
