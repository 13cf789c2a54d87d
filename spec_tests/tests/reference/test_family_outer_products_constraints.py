"""The constraints of the records of the variants that write outer products, over the finite field."""

import numpy as np
import pytest
from drawing import each, equal, over_field, over_floats
from outer_products import BY_NAME, NEW, empty, functions_of_numbers  # noqa: F401

from linattn import forms, prefill, slopes
from linattn.numbers import field

EXCLUSIVE = [BY_NAME[name] for name in ("rwkv5", "rwkv6")]
PER_TOKEN = [v for v in NEW if v.has("log_decay") and v.input("log_decay").time is not None and v.read == "inclusive"]
STEPPED = [BY_NAME[name] for name in ("mamba", "mamba2")]


@each(v for v in NEW if v.has("log_decay"))
def test_a_positive_log_decay_is_refused(variant):
    """hadamard_gated_linear_attention C1, hgrn2 C1, metala C1, gated_rfa C1, lightning_attention C1,
    power_attention C1, rwkv5 C1, rwkv6 C1.
    """
    _, inputs = over_floats(variant)
    with pytest.raises(ValueError, match=r"^log_decay must be <= 0 \(natural log\); got max 0.25 at \[.*\]$"):
        prefill(variant, **inputs | {"log_decay": np.full_like(inputs["log_decay"], 0.25)})


@each(STEPPED)
@pytest.mark.parametrize(("name", "sign"), [("dt", -1), ("A", 1)])
def test_a_step_back_and_a_growing_state_are_refused(variant, name, sign):
    """mamba C1, mamba2 C1."""
    _, inputs = over_floats(variant)
    inside = inputs | {"dt": np.abs(inputs["dt"]), "A": -np.abs(inputs["A"])}
    prefill(variant, **inside)
    with pytest.raises(ValueError, match=f"^{name} must be "):
        prefill(variant, **inside | {name: sign * (np.abs(inputs[name]) + 0.25)})


@each(PER_TOKEN)
@pytest.mark.parametrize("t", [0, 3, 6])
def test_log_zero_forgets_everything_before(variant, t):
    """hadamard_gated_linear_attention C3, metala C3, gated_rfa C4, power_attention C1."""
    state, inputs = over_field(variant)
    inputs["log_decay"][t] = field.Log(None)
    final, output = forms.chunkwise(variant, state, inputs, 3)
    later = forms.take(variant, inputs, slice(t, None))
    assert equal((final, output[t:]), forms.recurrent(variant, empty(state), later))


def test_one_value_channel_is_gated_linear_attention():
    """hadamard_gated_linear_attention C4."""
    full = BY_NAME["hadamard_gated_linear_attention"]
    (S,), inputs = over_field(full)
    (final,), output = forms.parallel(full, (S,), inputs)
    for n in range(S.shape[-1]):
        own = inputs | {"v": inputs["v"][:, n : n + 1], "log_decay": inputs["log_decay"][..., n]}
        got = forms.recurrent(BY_NAME["gla"], (S[:, n : n + 1],), own)
        assert equal(((final[:, n : n + 1],), output[:, n : n + 1]), got)


@each([BY_NAME["hgrn2"], BY_NAME["metala"]])
def test_what_keeps_everything_writes_nothing(variant):
    """hgrn2 C1, in one channel of one token; metala C1."""
    (S,), inputs = over_field(variant, T=1)
    inputs["log_decay"][:, 1] = field.Log(0)
    (final,), _ = forms.parallel(variant, (S,), inputs)
    assert [np.array_equal(new, old) for new, old in zip(final, S, strict=True)] == [False, True, False, False, False]


def test_what_forgets_everything_stores_the_value_in_every_row():
    """hgrn2 C3."""
    hgrn2 = BY_NAME["hgrn2"]
    state, inputs = over_field(hgrn2)
    inputs["log_decay"][-1] = field.Log(None)
    (final,), _ = forms.recurrent(hgrn2, state, inputs)
    assert np.array_equal(final, np.broadcast_to(inputs["v"][-1], final.shape))


def test_the_weights_in_every_row_of_hgrn2_sum_to_one():
    """hgrn2 C4: one value throughout stays; that no weight is negative is seen in the recurrence."""
    hgrn2 = BY_NAME["hgrn2"]
    (S,), inputs = over_field(hgrn2)
    same = inputs["v"][0]
    start = (np.broadcast_to(same, S.shape),)
    (final,), _ = forms.chunkwise(hgrn2, start, inputs | {"v": np.broadcast_to(same, inputs["v"].shape)}, 3)
    assert np.array_equal(final, start[0])


def test_lightning_slopes():
    """lightning_attention C3; the two conventions by hand."""
    alibi = slopes.alibi_log_decay(8, layer=0, layers=4)[:, 0]
    assert np.allclose(alibi, -(0.5 ** np.arange(1, 9)) * 1.00001, rtol=1e-15)
    assert np.array_equal(slopes.linear_log_decay(4, layer=1, layers=4)[:, 0], [0, -1.5, -3, -4.5])
    assert np.allclose(slopes.alibi_log_decay(2, 3, 4)[:, 0], [-(2.0**-4) * 1e-5, -(2.0**-8) * 1e-5])
    assert slopes.linear_log_decay(8, 0, 4).shape == (8, 1)


@each(STEPPED)
def test_a_step_of_no_size_ignores_the_token(variant):
    """mamba C2, mamba2 C2."""
    state, inputs = over_field(variant)
    inputs["dt"] = 0 * inputs["dt"]
    final, output = forms.chunkwise(variant, state, inputs, 3)
    assert np.array_equal(final[0], state[0])
    assert np.array_equal(output, inputs["q"] @ state[0] + inputs["D"] * inputs["v"])


def test_the_channels_of_mamba_do_not_mix():
    """mamba C5."""
    mamba = BY_NAME["mamba"]
    (S,), inputs = over_field(mamba)
    (final,), output = forms.parallel(mamba, (S,), inputs)
    for n in range(S.shape[-1]):
        one = slice(n, n + 1)
        own = inputs | {name: inputs[name][:, one] for name in ("v", "dt")}
        own |= {"A": inputs["A"][one], "D": inputs["D"][one]}
        assert equal(((final[:, one],), output[:, one]), forms.recurrent(mamba, (S[:, one],), own))


@each(EXCLUSIVE)
def test_without_its_bonus_a_token_does_not_see_itself(variant):
    """rwkv5 C3, rwkv6 C3."""
    state, inputs = over_field(variant)
    other = over_field(variant, "other")[1]
    inputs["u"] = 0 * inputs["u"]
    changed = {name: np.concatenate([inputs[name][:-1], other[name][-1:]]) for name in ("k", "v")}
    _, output = forms.parallel(variant, state, inputs)
    assert np.array_equal(forms.parallel(variant, state, inputs | changed)[1], output)


def test_the_states_of_rwkv5_are_those_of_retention():
    """rwkv5 C2."""
    state, inputs = over_field(BY_NAME["retention"])
    more = {"log_decay": np.repeat(inputs["log_decay"], len(state[0])), "u": inputs["q"][0]}
    final, _ = forms.parallel(BY_NAME["rwkv5"], state, inputs | more)
    assert equal((final, 0), (forms.recurrent(BY_NAME["retention"], state, inputs)[0], 0))


@pytest.mark.parametrize("t", [0, 3, 5])
def test_rwkv6_hides_the_past_from_later_tokens_alone(t):
    """rwkv6 C5, rwkv6 C6."""
    rwkv6 = BY_NAME["rwkv6"]
    state, inputs = over_field(rwkv6)
    inputs["log_decay"][t] = field.Log(None)
    final, output = forms.chunkwise(rwkv6, state, inputs, 3)
    later = forms.take(rwkv6, inputs, slice(t, None))
    fresh, fresh_output = forms.recurrent(rwkv6, empty(state), later)
    assert equal((final, output[t + 1 :]), (fresh, fresh_output[1:]))
    assert not np.array_equal(output[t], fresh_output[0])
