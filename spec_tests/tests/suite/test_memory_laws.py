"""Laws of memory: views read as if they were whole, arrays shared that should not be, values left over from before."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from plain import judged, plain

from linattn.record import FORMS
from linattn_spec import load
from linattn_spec.checks import run_check
from linattn_spec.laws.memory import MEMORY
from linattn_spec.plan import Selection, plan

KINDS = [law.name for law in MEMORY]


def as_it_lies(**arguments: Any) -> Any:
    """v in the order of memory."""
    v = arguments["v"]
    return plain(**arguments | {"v": v.ravel(order="K").reshape(v.shape) if min(v.strides) > 0 else v})


def channels_side_by_side(**arguments: Any) -> Any:
    """The last axis of v is taken to have a stride of one value."""
    v = arguments["v"]
    if min(v.strides) > 0:
        v = np.lib.stride_tricks.as_strided(v, strides=(*v.strides[:-1], v.itemsize))
    return plain(**arguments | {"v": v})


def strides_without_sign(**arguments: Any) -> Any:
    flips = tuple(slice(None, None, -1 if stride < 0 else 1) for stride in arguments["v"].strides)
    return plain(**arguments | {"v": arguments["v"][flips]})


def stride_0_for_one_entry(**arguments: Any) -> Any:
    v = arguments["v"]
    return plain(**arguments | {"v": np.concatenate([v[:1], 0 * v[1:]]) if v.strides[0] == 0 else v})


@pytest.mark.parametrize(
    ("call", "view"),
    [
        (as_it_lies, "transposed"),
        (channels_side_by_side, "with gaps"),
        (strides_without_sign, "backwards"),
        (stride_0_for_one_entry, "expanded"),
    ],
)
def test_a_view_read_as_something_else_is_seen(call, view):
    assert judged(call, "golden").status == "pass"
    result = judged(call, "strides")
    assert (result.status, result.reason.partition(": ")[0]) == ("fail", f"inputs {view}")


def test_views_may_be_refused():
    def contiguous(**arguments: Any) -> Any:
        if not arguments["v"].flags.c_contiguous:
            raise ValueError("v must be contiguous")
        return plain(**arguments)

    result = judged(contiguous, "strides")
    assert (result.status, result.reason) == ("pass", "refused")


def test_a_framework_without_strides_has_no_views():
    result = judged(plain, "strides", array="jax")
    assert (result.status, result.reason) == ("unsupported", "arrays of jax have no strides")


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


def test_pytorch_has_views_of_all_kinds_but_backwards():
    torch = pytest.importorskip("torch")
    seen = set()

    def call(**arguments: Any) -> Any:
        v = arguments["v"]
        seen.add((v.is_contiguous(), v.stride(-1) == 1, v.stride(0) == 0))
        arrays = {name: x.numpy() if hasattr(x, "numpy") else x for name, x in arguments.items()}
        return tuple(torch.from_numpy(x) for x in plain(**arrays))

    assert judged(call, "strides", array="torch").status == "pass"
    assert seen == {(True, True, False), (False, False, False), (False, True, True)}


@pytest.mark.parametrize("form", FORMS)
def test_our_own_forms_keep_to_their_memory(form):
    backend = load("numpy")
    checks = [c for c in plan(backend, Selection(forms=(form,), profiles=("fp32",))) if c.kind in KINDS]
    results = [run_check(backend, check) for check in checks if not check.scenario.startswith("recipe")]
    assert {result.check.kind for result in results} == set(KINDS)
    wrong = {result.check.id: result.reason for result in results if result.status != "pass"}
    assert set(wrong.values()) <= {"no two inputs of the case have one shape"}
