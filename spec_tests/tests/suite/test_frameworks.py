"""Arrays of the frameworks: values and dtypes survive the way there and back."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import linattn_spec
from linattn_spec import frameworks

MODULES = {"torch": "torch", "jax": "jax.numpy", "mlx": "mlx.core"}
DTYPES = ("float32", "float16", "bfloat16")
BITS = {"float32": 24, "float16": 11, "bfloat16": 8}


@pytest.fixture(params=MODULES)
def framework(request) -> str:
    pytest.importorskip(MODULES[request.param].split(".")[0])
    return request.param


def every_bfloat16_and_its_neighbours() -> np.ndarray:
    """All finite bfloat16 values, and float32 values below, at and above the middle of two of them."""
    bits = np.arange(2**16, dtype=np.uint32) << np.uint32(16)
    near = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=np.uint32)
    values = (bits[:, None] | near).view(np.float32).ravel()
    return values[np.abs(values) < 3e38]


def test_bfloat16_is_rounded_to_nearest_even():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = every_bfloat16_and_its_neighbours()
    assert np.array_equal(frameworks.typed(values, "bfloat16").values, values.astype(ml_dtypes.bfloat16).astype(float))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rounding_is_idempotent_and_within_the_unit_roundoff(dtype):
    values = np.random.default_rng(0).normal(size=1000)
    once = frameworks.typed(values, dtype)
    assert np.array_equal(frameworks.typed(once.values, dtype).values, once.values)
    assert np.all(np.abs(once.values - values) <= 2.0 ** -BITS[dtype] * np.abs(values))
    assert np.any(once.values != values)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_there_and_back(framework, dtype, shape):
    typed = frameworks.typed(np.random.default_rng(0).normal(size=shape), dtype)
    back = frameworks.from_array(framework, frameworks.to_array(framework, typed))
    assert back.dtype == dtype
    assert np.array_equal(back.values, typed.values)


def test_an_unknown_framework_is_refused():
    with pytest.raises(ValueError, match="array must be one of numpy, torch, jax, mlx; got 'tensorflow'"):
        frameworks.to_array("tensorflow", frameworks.typed(1.0, "float32"))


@pytest.mark.parametrize("profile", ["fp32", "bf16-io"])
def test_an_implementation_in_a_framework_is_judged(framework, profile):
    xp: Any = import_module(MODULES[framework])

    def linear_attention(q, k, v, scale, initial_state):
        """On (B, T, H, D); einsum and tril are all it needs of a framework."""
        scores = xp.tril(xp.einsum("bthk,bshk->bhts", single(q), single(k)))
        output = xp.einsum("bhts,bshv->bthv", scores, single(v))
        state = xp.einsum("bthk,bthv->bhkv", single(k), single(v))
        if initial_state is not None:
            output = output + xp.einsum("bthk,bhkv->bthv", single(q), initial_state)
            state = state + initial_state
        return cast(scale * output, q.dtype), state

    def single(x: Any) -> Any:
        return cast(x, xp.float32)

    def cast(x: Any, dtype: Any) -> Any:
        return x.to(dtype) if framework == "torch" else x.astype(dtype)

    accepts = "Hq == Hk and Hk == Hv"
    results = linattn_spec.check(
        linear_attention, "linear_attention", form="parallel", profiles=[profile], array=framework, accepts=accepts
    )
    assert sum(result.status == "pass" for result in results) > 10

    def wrong(q, k, v, scale, initial_state):
        return linear_attention(q, k, v, 2 * scale, initial_state)

    with pytest.raises(AssertionError, match="2 times the right values"):
        linattn_spec.check(wrong, "linear_attention", profiles=[profile], array=framework, accepts=accepts)
