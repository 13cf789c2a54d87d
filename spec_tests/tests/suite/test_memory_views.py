"""Laws of memory: views read as if they were whole."""

from typing import Any

import numpy as np
import pytest
from plain import judged, plain


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
