"""Laws of memory: values left over from before the call."""

from typing import Any

import numpy as np
import pytest
from plain import judged, plain


def sums_begin_anywhere(**arguments: Any) -> Any:
    output, state = plain(**arguments)
    sums = np.empty(output.shape, dtype=np.float32)
    sums += output
    return sums, state


def last_token_never_written(**arguments: Any) -> Any:
    output, state = plain(**arguments)
    written = np.empty_like(output)
    written[:, :, :-1] = output[:, :, :-1]
    return written, state


def scratch_taken_for_zeros(**arguments: Any) -> Any:
    output, state = plain(**arguments)
    return output, state + np.empty(state.shape, dtype=np.float32)


@pytest.mark.parametrize("call", [sums_begin_anywhere, last_token_never_written, scratch_taken_for_zeros])
@pytest.mark.parametrize("scenario", ["odd-dims", "recipe-64"])
def test_values_from_before_the_call_are_seen(call, scenario):
    result = judged(call, "poison", scenario)
    assert result.status == "fail"
    assert result.reason.startswith("memory full of NaN, not of zeros: ")


@pytest.mark.parametrize("own", [True, False], ids=["np.empty", "allocator"])
def test_memory_is_full_of_zeros_and_then_of_nan(own):
    """Also for what does not ask ``np.empty``, as an extension; the allocator keeps its books in the first bytes."""
    seen = []

    def call(**arguments: Any) -> Any:
        shape = arguments["initial_state"].shape[1:]  # small: NumPy itself keeps such blocks, on every system
        scratch = np.empty(shape, np.float32) if own else np.ndarray(shape, np.float32)
        seen.append(scratch.sum() if own else np.median(scratch.view(np.uint8)))
        return plain(**arguments)

    assert judged(call, "poison").status == "pass"
    np.testing.assert_array_equal(seen, [0, np.nan] if own else [0, 0xFF])


def test_pytorch_fills_memory_too():
    torch = pytest.importorskip("torch")

    def call(**arguments: Any) -> Any:
        arrays = {name: x.numpy() if hasattr(x, "numpy") else x for name, x in arguments.items()}
        output, state = plain(**arrays)
        return torch.empty(output.shape).add_(torch.from_numpy(output)), torch.from_numpy(state)

    assert judged(call, "poison", array="torch").status == "fail"
    assert not torch.are_deterministic_algorithms_enabled()
