"""Implementations of the gated delta rule that are right on the golden inputs, and wrong elsewhere."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import linattn
import linattn_golden

CASE = linattn_golden.case("gated_delta_rule/odd-dims")
GOLDEN = linattn_golden.load(CASE).inputs["q"]
KEYS = linattn_golden.load(CASE).inputs["k"].reshape(-1, CASE.dims["K"])


def right(**arguments: Any) -> Any:
    """On (B, H, T, D)."""
    wide = {name: x[..., None] if name in ("log_decay", "beta") else x for name, x in arguments.items()}
    return linattn.prefill("gated_delta_rule", **wide)


def foreign(q: np.ndarray) -> np.ndarray:
    """(B, H, T, 1): 1 at tokens that the golden case has not, 0 at those that it has."""
    known = (q[:, :, :, None] == GOLDEN[:, :, None, :]).all(axis=-1).any(axis=-1)
    return (~known[..., None]).astype(np.float32)


def twice_as_large(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return 2 * output, state


def decoding_forgets_the_state(**arguments: Any) -> Any:
    """A path of its own for one token; the golden case with one token starts from nothing."""
    return right(**arguments | ({"initial_state": None} if arguments["q"].shape[2] == 1 else {}))


def wrong_for_four_tokens(**arguments: Any) -> Any:
    """Which only the rest of a sequence cut in the middle has."""
    output, state = right(**arguments)
    return output * (1 + (output.shape[2] == 4)), state


def later_tokens_leak(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + foreign(arguments["q"]).max(axis=2, keepdims=True), state


def batch_entries_leak(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + foreign(arguments["q"])[::-1], state


def heads_leak(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + np.roll(foreign(arguments["q"]), 1, axis=1), state


def argument_overwritten(**arguments: Any) -> Any:
    result = right(**arguments)
    arguments["initial_state"][...] = result[1][0]
    return result


def the_third_time_is_wrong() -> Callable[..., Any]:
    seen: Counter[bytes] = Counter()

    def call(**arguments: Any) -> Any:
        seen[arguments["q"].tobytes()] += 1
        output, state = right(**arguments)
        return output * (1 + seen[arguments["q"].tobytes()] // 3), state

    return call


def large_values_clamped(**arguments: Any) -> Any:
    """Golden values are at most 4 in size."""
    return right(**arguments | {"v": np.clip(arguments["v"], -4, 4)})


def wrong_for_eight_tokens(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output * (1 + (output.shape[2] == 8)), state


def wrong_for_a_block_of_64(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output * (1 + (output.shape[2] == 64)), state


def tokens_without_a_value_are_skipped(**arguments: Any) -> Any:
    """As padding, which should neither decay nor erase: but here it may be a value of zeros."""
    idle = (arguments["v"] == 0).all(axis=-1)
    gates = {name: np.where(idle, 0, arguments[name]) for name in ("log_decay", "beta")}
    return right(**arguments | gates)


def large_scales_clamped(**arguments: Any) -> Any:
    """The golden case has 5 ** -0.5."""
    return right(**arguments | {"scale": min(arguments["scale"], 0.5)})


def small_scales_taken_for_none(**arguments: Any) -> Any:
    return right(**arguments | {"scale": max(arguments["scale"], 0.25)})


def key_channels_have_their_place(**arguments: Any) -> Any:
    """Keys that the golden case has nowhere, and which are not 0."""
    output, state = right(**arguments)
    known = (arguments["k"][..., None, :] == KEYS).all(axis=-1).any(axis=-1) | (arguments["k"] == 0).all(axis=-1)
    return output + ~known[..., None], state


def no_tokens_no_state(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output, tuple(x * (output.shape[2] > 0) for x in state)


def entries_have_their_place(**arguments: Any) -> Any:
    output, state = right(**arguments)
    return output + foreign(arguments["q"][:, :, :1]), state
