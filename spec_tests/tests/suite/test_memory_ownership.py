"""Laws of memory: arrays shared that should not be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain import judged, plain


def scaled_in_place(**arguments: Any) -> Any:
    """q is scaled in a private copy, which equal arguments share."""
    own = {id(x): x.copy() for x in arguments.values() if isinstance(x, np.ndarray)}
    mine = {name: own.get(id(x), x) for name, x in arguments.items()}
    mine["q"] *= np.float32(mine["scale"])
    return plain(**mine | {"scale": 1.0})


@pytest.mark.parametrize("scenario", ["odd-dims", "square"])
def test_one_array_for_two_inputs_is_tried(scenario):
    assert judged(scaled_in_place, "golden", scenario).status == "pass"
    result = judged(scaled_in_place, "aliasing", scenario)
    assert result.status == "fail"
    assert result.reason.startswith(f"k passed for {'q and v' if scenario == 'square' else 'q'} too: ")


def state_updated_in_place(**arguments: Any) -> Any:
    output, state = plain(**arguments)
    arguments["initial_state"][...] = state
    return output, arguments["initial_state"]


def output_in_place_of_v(**arguments: Any) -> Any:
    output, state = plain(**arguments)
    arguments["v"][...] = output
    return arguments["v"], state


def output_and_state_overlap(**arguments: Any) -> Any:
    """The last row of the output lies where the first of the state lies, and is copied there only when it is read."""
    output, state = plain(**arguments)
    both = np.concatenate([output[:, :, :-1], state], axis=2)
    tokens = output.shape[2]
    state[:, :, 0] = output[:, :, -1]
    both[:, :, tokens - 1 :] = state
    return both[:, :, :tokens], both[:, :, tokens - 1 :]


def remembered() -> Callable[..., Any]:
    """Results are kept for the next call with the same arguments."""
    known: dict[bytes, Any] = {}

    def call(**arguments: Any) -> Any:
        key = b"".join(x.tobytes() for x in arguments.values() if isinstance(x, np.ndarray))
        return known.setdefault(key, plain(**arguments))

    return call


def one_buffer() -> Callable[..., Any]:
    """The output of the last call has room for that of the next."""
    buffers: dict[tuple[int, ...], np.ndarray] = {}

    def call(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        buffer = buffers.setdefault(output.shape, np.empty_like(output))
        buffer[...] = output
        return buffer, state

    return call


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (state_updated_in_place, "writing into the returned final_state changed initial_state"),
        (output_in_place_of_v, "writing into the returned output changed v"),
        (output_and_state_overlap, "writing into the returned output changed final_state"),
        (remembered(), "called again, with the first results overwritten: output"),
        (one_buffer(), "kept over a later call: output"),
    ],
    ids=["state", "v", "overlap", "remembered", "buffer"],
)
def test_results_that_are_not_the_callers_own_are_seen(call, words):
    result = judged(call, "ownership")
    assert result.status == "fail"
    assert result.reason.startswith(words)
