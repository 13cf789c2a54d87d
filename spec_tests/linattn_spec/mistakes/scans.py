"""Scans: how they add up what is written, and with which weights."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

SCAN = ("x per token", "h", "linear")
TOGETHER = ("chunkwise", "parallel")


def parts(step: Any, h: Array, token: dict[str, Array]) -> tuple[Array, Array, Array]:
    """What a step keeps of h, the share that it keeps, and what it writes."""
    silent = {**token, "x": 0 * token["x"]}
    return step(h, **silent)[0][0], step(1 + 0 * h, **silent)[0][0], step(0 * h, **token)[0][0]


def with_parts(change: Callable[..., Array]) -> Callable[[Call], Results]:
    """Another sum: ``change(before, kept, share, written)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        h = change(state[0], *parts(step, state[0], token))
        return (h,), h

    return with_step(changed)


def with_scan(change: Callable[[Array, Array, Array], Array]) -> Callable[[Call], Results]:
    """Another scan over the sequence: ``change(h, shares, writes)`` are all states."""

    def wrong(call: Call) -> Results:
        h = np.broadcast_to(call.state[0][:, :, None], call.inputs["x"].shape)
        _, shares, writes = parts(call.variant.step, h, call.inputs)
        states = change(h, shares, writes).astype(h.dtype)
        return {"output": states, "final_state/h": states[:, :, -1]}

    return wrong


def operands_exchanged(h: Array, shares: Array, writes: Array) -> Array:
    """What is written decays by the tokens before it, not by those after."""
    total = np.cumprod(shares, axis=2)
    before = np.concatenate([0 * total[:, :, :1] + 1, total[:, :, :-1]], axis=2)
    return total * h + np.cumsum(before * writes, axis=2)


def divided_by_decays(h: Array, shares: Array, writes: Array) -> Array:
    """Cumulative decays are 0 where single precision says so."""
    total = np.cumprod(shares, axis=2)
    total = np.where(total.astype(np.float32) < np.finfo(np.float32).tiny, 0, total)
    return total * (h + np.cumsum(writes / total, axis=2))


def one_minus_decay(call: Call) -> Array:
    return 1 - np.exp(call.inputs["log_decay"])


def root_of_the_rest(call: Call) -> Array:
    return np.sqrt(1 - np.exp(2 * call.inputs["log_decay"]))


SCANS = (
    Mistake(
        "state-kept-whole",
        "gate",
        "Nothing of the state is forgotten.",
        with_parts(lambda h, kept, share, written: h + written),
        SCAN,
    ),
    Mistake(
        "input-decayed-with-the-state",
        "order",
        "The decay acts on the new input too.",
        with_parts(lambda h, kept, share, written: kept + share * written),
        SCAN,
    ),
    Mistake(
        "scan-operands-exchanged",
        "order",
        "The operands of the scan are exchanged: an input decays by the tokens before it.",
        with_scan(operands_exchanged),
        SCAN,
        TOGETHER,
    ),
    Mistake(
        "scan-divided-by-decays",
        "gate range",
        "Inputs are divided by cumulative decays, which single precision takes for 0.",
        with_scan(divided_by_decays),
        SCAN,
        TOGETHER,
    ),
    Mistake(
        "input-by-one-minus-decay",
        "order",
        "The input is multiplied by 1 - decay, in HGRN once more.",
        with_inputs(x=lambda x, c: one_minus_decay(c) * x),
        (*SCAN, "log_decay"),
    ),
    Mistake(
        "input-by-the-root-of-the-rest",
        "order",
        "The input is multiplied by sqrt(1 - decay^2), in RG-LRU once more.",
        with_inputs(x=lambda x, c: root_of_the_rest(c) * x),
        (*SCAN, "log_decay"),
    ),
)
