"""Chunk sizes and packed sequences: how a function is called with them, and what the laws of them see."""

import re
from typing import Any

import numpy as np
import pytest

import linattn
import linattn_golden
from linattn_spec import Backend
from linattn_spec.backends.numpy_folds import adapter, with_signature
from linattn_spec.checks import run_check
from linattn_spec.exchange import Exchange
from linattn_spec.plan import plan
from linattn_spec.profiles import PROFILES
from linattn_spec.results import Check, Result

NAME = "gated_delta_rule"
VARIANT = linattn.variant(NAME)
RIGHT = adapter(VARIANT, "chunkwise")
NAMES = [item.name for item in VARIANT.inputs] + ["initial_state"]
ONE_TOKEN = (0, 3, 4, 7)  # the borders in odd-dims


def backend_of(call: Any, accepts: str = "", array: str = "numpy", **defaults: Any) -> Backend:
    backend = Backend("mine", layout="BHTD", array=array)
    names = NAMES if "cu_seqlens" in defaults else [*NAMES, "cu_seqlens"]
    backend.implements(NAME, "chunkwise", accepts)(with_signature(call, names, **({"chunk_size": 16} | defaults)))
    return backend


def judged(call: Any, kind: str, scenario: str = "odd-dims", **options: Any) -> Result:
    return run_check(backend_of(call, **options), Check(NAME, scenario, "chunkwise", "fp32", kind))


def sequences(given: dict[str, Any]) -> tuple[int, ...]:
    return tuple(given["cu_seqlens"]) if given["cu_seqlens"] is not None else ()


def chunks_of_three(**given: Any) -> Any:
    output, state = RIGHT(**given)
    return output * (1 + (given.get("chunk_size") == 3)), state


def chunks_longer_than_the_sequence(**given: Any) -> Any:
    output, state = RIGHT(**given)
    return output, tuple(x * (1 + (given.get("chunk_size", 16) > 32)) for x in state)


def borders_ignored(**given: Any) -> Any:
    if sequences(given):
        state = given["initial_state"][:1]
        return RIGHT(**given | {"cu_seqlens": None, "initial_state": state})
    return RIGHT(**given)


def first_state_for_all(**given: Any) -> Any:
    if sequences(given):
        given["initial_state"] = np.repeat(given["initial_state"][:1], len(given["initial_state"]), axis=0)
    return RIGHT(**given)


def empty_sequences_lose_their_state(**given: Any) -> Any:
    output, (state,) = RIGHT(**given)
    if sequences(given):
        state = state * (np.diff(given["cu_seqlens"]) > 0)[:, None, None, None]
    return output, state


def last_sequence_leaks(**given: Any) -> Any:
    """Only with keys that the golden case has not at its end."""
    output, state = RIGHT(**given)
    if sequences(given):
        known = linattn_golden.load(linattn_golden.case(f"{NAME}/odd-dims")).inputs["k"][:1, :, -1:]
        output = output + (given["k"][:, :, -1:] != known).any().astype(np.float32)
    return output, state


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (chunks_of_three, "chunk_size", "chunk size 3: output .*, 2 times the right values; final_state/S right"),
        (chunks_longer_than_the_sequence, "chunk_size", "chunk size 64: final_state/S .* 2 times the right values"),
        (borders_ignored, "packing", r"final_state/S must have shape \(3, 3, 5, 11\)"),
        (first_state_for_all, "packing", r"packed at \(0, 3, 4, 7\).*: final_state/S is off"),
        (empty_sequences_lose_their_state, "packing", r"empty sequences between: final_state/S .*zeros"),
        (last_sequence_leaks, "packing", r"packed at \(0, 3, 4, 7\), sequence 2 changed: output"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_one_law_sees_it_and_no_other_check_does(call, kind, words):
    planned = plan(backend_of(call))
    results = {c.kind: judged(call, c.kind) for c in planned if c.scenario == "odd-dims"}
    assert {name for name, result in results.items() if result.status in ("fail", "error")} == {kind}
    assert re.search(words, results[kind].reason)


def test_refusing_empty_sequences_is_no_fault():
    def refuses(**given: Any) -> Any:
        if 0 in np.diff(sequences(given)):
            raise RuntimeError("every sequence needs a token")
        return RIGHT(**given)

    assert judged(refuses, "packing").status == "pass"


def test_sizes_that_are_not_accepted_are_not_tried():
    seen = set()

    def call(**given: Any) -> Any:
        seen.add((given["q"].shape[2], given.get("chunk_size")))
        return RIGHT(**given)

    assert judged(call, "chunk_size", "recipe-64", accepts="T % 64 == 0 and C in (16, 64)").status == "pass"
    assert seen == {(128, None), (128, 16), (128, 64)}
    seen.clear()
    assert judged(call, "packing", "recipe-64", accepts="T % 64 == 0").status == "pass"
    assert seen == {(64, None), (128, None)}
    refused = judged(call, "chunk_size", accepts="C == 17", chunk_size=17)
    assert (refused.status, refused.reason) == ("unsupported", "accepts C == 17: no chunk size that is tried")
    refused = judged(call, "packing", accepts="T == 7")
    assert (refused.status, refused.reason) == ("unsupported", "accepts T == 7: no pieces of T=7")


def test_accepts_knows_the_default_chunk_size():
    assert judged(RIGHT, "golden", accepts="C == 16").status == "pass"
    assert judged(RIGHT, "golden", accepts="C == 16", chunk_size=8).reason == (
        "accepts C == 16; the case has C=8, B=2, T=7, Hq=3, Hk=3, Hv=3, K=5, V=11"
    )


@pytest.mark.parametrize("array", ["numpy", "torch", "jax", "mlx"])
def test_what_is_passed(array):
    if array != "numpy":
        pytest.importorskip({"mlx": "mlx.core"}.get(array, array))
    case = linattn_golden.case(f"{NAME}/odd-dims")
    backend = backend_of(RIGHT, array=array)
    exchange = Exchange(backend, backend.functions[0], PROFILES["fp32"])
    data = linattn_golden.load(case)
    plain = exchange.arguments(data.inputs, data.initial_state)
    assert plain["cu_seqlens"] is None
    assert "chunk_size" not in plain
    told = exchange.arguments(data.inputs, data.initial_state, chunk_size=3, cu_seqlens=ONE_TOKEN)
    assert told["chunk_size"] == 3
    assert tuple(np.asarray(told["cu_seqlens"]).tolist()) == ONE_TOKEN
    width = "int64" if array in ("numpy", "torch") else "int32"
    assert str(told["cu_seqlens"].dtype).split(".")[-1] == width


def test_a_chunk_size_needs_a_default():
    backend = Backend("mine")
    with pytest.raises(ValueError, match="chunk_size of linear_attention chunkwise must have a default; got none"):
        backend.implements("linear_attention", "chunkwise")(lambda q, k, v, chunk_size: None)
    with pytest.raises(ValueError, match="linear_attention has no input seqlens"):
        backend.implements("linear_attention", "chunkwise")(lambda q, k, v, seqlens: None)


def test_the_laws_are_planned_where_a_function_takes_their_argument():
    backend = Backend("mine")
    backend.implements("linear_attention", "recurrent")(lambda q, k, v, initial_state: None)
    backend.implements("linear_attention", "chunkwise")(lambda q, k, v, initial_state, chunk_size=64: None)
    backend.implements("linear_attention", "parallel")(lambda q, k, v, cu_seqlens: None)
    kinds = {c.column: {d.kind for d in plan(backend) if d.column == c.column} for c in plan(backend)}
    ours = {column: found & {"chunk_size", "packing"} for column, found in kinds.items()}
    assert ours == {"recurrent": set(), "chunkwise": {"chunk_size"}, "parallel": {"packing"}}


def test_a_function_without_a_state_can_be_packed():
    """Training kernels: every sequence starts afresh."""
    backend = Backend("mine", layout="BHTD")
    names = [name for name in NAMES if name != "initial_state"]
    backend.implements(NAME, "chunkwise")(with_signature(RIGHT, names, cu_seqlens=None))
    result = run_check(backend, Check(NAME, "odd-dims", "chunkwise", "fp32", "packing"))
    assert (result.status, result.reason) == ("pass", "")


@pytest.mark.parametrize("kind", ["chunk_size", "packing"])
def test_a_function_that_takes_no_such_argument_is_not_judged(kind):
    backend = Backend("mine", layout="BHTD")
    backend.implements(NAME, "chunkwise")(with_signature(RIGHT, NAMES))
    argument = {"packing": "cu_seqlens"}.get(kind, kind)
    result = run_check(backend, Check(NAME, "odd-dims", "chunkwise", "fp32", kind))
    assert (result.status, result.reason) == ("unsupported", f"takes no {argument}")
