"""Units and limits, value by value."""

import numpy as np
import pytest

import linattn
from linattn_spec import PROFILES, Profile, verdict
from linattn_spec.comparison import Comparison
from linattn_spec.frameworks import typed
from linattn_spec.profiles import SMALLEST
from linattn_spec.ways import ways

EACH_PROFILE = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda profile: profile.name)


def loads(truth: verdict.Truth, got: dict[str, np.ndarray]) -> dict[str, float]:
    errors = Comparison(got, truth.values, truth.units).errors
    return {name: verdict.measure(x).load for name, x in errors.items()}


def bell(*shape: int, seed: int = 0) -> np.ndarray:
    return typed(np.random.default_rng(seed).normal(size=shape), "bfloat16").values


@EACH_PROFILE
def test_a_zero_that_is_demanded_is_judged(profile: Profile):
    """Nothing is ever written: up to what the format flushes to zero, everything must be zero."""
    q, k, v = (bell(1, 2, 5, 4, seed=seed) for seed in range(3))
    truth = verdict.truth(linattn.variant("linear_attention"), profile, "recurrent", {"q": q, "k": k, "v": 0 * v}, None)
    stored = {"output": SMALLEST[profile.array], "final_state/S": SMALLEST[profile.state]}
    for name, x in truth.values.items():
        assert (x == 0).all()
        assert (truth.units[name] > 0).all()
        assert loads(truth, {name: x}) == {name: 0}
        assert loads(truth, {name: x + stored[name]})[name] <= 1
        assert loads(truth, {name: x + 64 * stored[name]})[name] > 1


@EACH_PROFILE
def test_the_smallest_unit_is_the_rounding_of_the_stored_value(profile: Profile):
    """A uniform error of half a unit in the last place has a root mean square of 1/sqrt(3) of its largest value."""
    values = np.full((1, 1, 2, 3), 1.5)
    units = verdict.unit(values, np.zeros((4, 1, 1, 2, 3)), verdict.rounding(profile, "output"))
    assert np.allclose(units, 1.5 * 2.0**-profile.output_bits / 3**0.5, rtol=1e-15)


def test_the_noise_of_an_element_is_at_least_that_of_its_row():
    spread = np.zeros((2, 1, 1, 2, 4))
    spread[:, 0, 0, 0, 0] = 1e-3, -1e-3
    units = verdict.unit(np.ones((1, 1, 2, 4)), spread, (0.0, 0.0))[0, 0]
    assert np.allclose(units[0], [1e-3, 0.5e-3, 0.5e-3, 0.5e-3])  # the row: the root of the mean of 1, 0, 0, 0
    assert np.array_equal(units[1], [0, 0, 0, 0])


def test_the_parts_of_a_complex_number_share_their_rows():
    """In another frame the error of one is that of the other."""
    real, imag = "final_state/S_real", "final_state/S_imag"
    values = {real: np.ones((1, 1, 2, 1)), imag: np.zeros((1, 1, 2, 1))}
    spread = {name: np.zeros((2, 1, 1, 2, 1)) for name in values}
    spread[real][:, 0, 0, 0, 0] = 1e-3, -1e-3
    units = verdict.units_of(PROFILES["fp64"], values, spread)
    assert np.allclose(units[real][0, 0, 0], 1e-3)
    assert np.allclose(units[imag][0, 0, 0], 1e-3 / 2**0.5)
    assert (units[imag][0, 0, 1] < 2.0**-52).all()


@pytest.mark.parametrize(
    ("name", "copies", "width", "tokens"),
    [
        ("simple_gla", 16, 1024, 256),  # one weight for all channels
        ("hadamard_gated_linear_attention", 16, 1024, 256),  # none: it is a scan
        ("gla", 16, 4, 256),
        ("gla", 16, 64, 128),
        ("lightnet", 64, 16, 128),
        ("gla", 64, 1024, 64),
    ],
)
def test_the_parallel_form_takes_as_many_tokens_as_memory_allows(name, copies, width, tokens):
    """2^24 numbers: a weight for every pair of tokens, every channel that has its own and every copy."""
    variant = linattn.variant(name)
    assert {one.chunk_size for one in ways(variant, "parallel", copies, {"K": width, "V": width})[1:]} == {tokens}
    assert {one.chunk_size for one in ways(variant, "chunkwise", copies, {"K": width, "V": width})} == {64}


@pytest.mark.parametrize(
    ("errors", "measured"),
    [
        (np.zeros((1, 1, 0, 3)), verdict.Measure(0, 0, 0)),
        (np.zeros((1, 1, 3, 0)), verdict.Measure(0, 0, 0)),
        (np.array([[[[3.0, 4.0], [0.0, 0.0]]]]), verdict.Measure(2.5, 12.5**0.5, 4)),
        (np.array([[[[3.0, np.nan]]]]), verdict.Measure(np.inf, np.inf, np.inf, finite=False)),
        (np.array([[[[-np.inf, 1.0]]]]), verdict.Measure(np.inf, np.inf, np.inf, finite=False)),
    ],
)
def test_measure(errors, measured):
    assert verdict.measure(errors) == measured


@pytest.mark.parametrize(
    ("measure", "load"),
    [
        (verdict.Measure(3, 8, 24), 1),
        (verdict.Measure(4.5, 8, 24), 1.5),
        (verdict.Measure(0, 16, 24), 2),
        (verdict.Measure(0, 0, 12), 0.5),
        (verdict.Measure(0, 0, 0, finite=False), np.inf),
    ],
)
def test_the_load_is_the_share_of_the_closest_limit(measure, load):
    assert measure.load == load
    assert measure.ok == (load <= 1)


def test_an_empty_sequence_has_a_truth():
    inputs = {"q": bell(1, 2, 0, 4), "k": bell(1, 2, 0, 4), "v": bell(1, 2, 0, 4), "beta": bell(1, 2, 0, 1)}
    truth = verdict.truth(linattn.variant("delta_rule"), PROFILES["fp32"], "recurrent", inputs, None)
    assert truth.values["output"].shape == truth.units["output"].shape == (1, 2, 0, 4)
    assert loads(truth, truth.values) == {"output": 0, "final_state/S": 0}
