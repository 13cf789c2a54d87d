"""Memories of exponential weights: the stabiliser m, and what states are relative to."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from linattn import families
from linattn.families import weighted, with_ones
from linattn.record import Variant
from linattn.variants.mlstm import bounded
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, piece, right, with_chunks

HAS_M = ("m",)
MISSING = ("https://github.com/tensorpro/tpu_rwkv/issues/1", "https://github.com/muditbhargava66/PyxLSTM/issues/15")


def with_m(variant: Variant, state: tuple, change: Callable[[Array], Array]) -> tuple:
    """Another m beside a memory that stays as it is."""
    return tuple(change(x) if item.name == "m" else x for x, item in zip(state, variant.state, strict=True))


def m_of(variant: Variant, state: tuple) -> Array:
    return next(x for x, item in zip(state, variant.state, strict=True) if item.name == "m")


def stepped(change: Callable[[Variant, tuple, dict[str, Array]], Any]) -> Callable[[Call], Results]:
    """Another recurrence: ``change(variant, state, token) -> (state, output)``."""

    def wrong(call: Call) -> Results:
        def step(*state: Array, **token: Array) -> Any:
            return change(call.variant, state, token)

        return right(replace(call, variant=replace(call.variant, step=step), form="recurrent"))

    return wrong


def not_rescaled(variant: Variant, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = variant.step(*state, **token)
    return variant.step(*with_m(variant, state, partial(np.maximum, m_of(variant, after))), **token)


def without_stabiliser(variant: Variant, state: tuple, token: dict[str, Array]) -> Any:
    """Infinity over infinity, from the first weight on that single precision does not hold."""
    after, output = variant.step(*state, **token)
    m = m_of(variant, after)
    lost = np.where(np.isinf(np.exp(m.astype(np.float32))), np.nan, 0).astype(m.dtype)
    spoilt = lost if m.shape == output.shape else lost.max(axis=-1, keepdims=True)
    return tuple(x + lost.reshape(lost.shape + (1,) * (x.ndim - lost.ndim)) for x in after), output + spoilt


def kept_with_the_new_maximum(call: Call, windows: list[slice]) -> Any:
    """A chunk takes the state that comes in for one relative to its own largest weight."""
    state, outputs = call.state, []
    for window in windows:
        after, _ = piece(call, window, state)
        top = m_of(call.variant, after)
        state, output = piece(call, window, with_m(call.variant, state, partial(np.maximum, top)))
        outputs.append(output)
    return state, outputs


def rescaled_on_the_wrong_side(S: Array, z: Array, m: Array, **given: Array) -> Any:
    """mLSTM by algorithm 1 of arXiv:2503.14376 as it is printed."""
    log_gates, values = (given["log_decay"], given["log_input"]), with_ones(given["v"])
    start, query = np.concatenate([S, z[..., :, None]], axis=-1), given["scale"] * given["q"]
    between, since_start, tops = families.stabilised(*log_gates, m)
    own_weights, _, own_tops = families.stabilised(*log_gates, np.full_like(m, -np.inf))
    final, _ = weighted(start, query, values, between * given["k"][..., None, :, :], since_start)
    own = weighted(0 * start, query, values, own_weights * given["k"][..., None, :, :], since_start)[1]
    o = own + np.exp(own_tops - families.finite(tops)) * since_start * (query @ start)
    return (final[..., :-1], final[..., -1], tops[..., -1, :]), bounded(o[..., :-1], o[..., -1:], tops)


def by_chunks_of(parallel: Callable[..., Any]) -> Callable[[Call], Results]:
    return lambda call: right(replace(call, variant=replace(call.variant, parallel=parallel)))


def started_at_zero(call: Call) -> Results:
    return right(replace(call, state=with_m(call.variant, call.state, lambda m: 0 * np.maximum(m, 0))))


def ended_at_zero(call: Call) -> Results:
    results = right(call)
    return {**results, "final_state/m": np.zeros_like(results["final_state/m"])}


STABILISER = (
    Mistake(
        "stabiliser-missing",
        "stabiliser",
        "Exponentials are taken without their maximum: they overflow.",
        stepped(without_stabiliser),
        HAS_M,
        seen_in=MISSING,
    ),
    Mistake(
        "stabiliser-rises-alone",
        "stabiliser",
        "Where the stabiliser rises, what is kept is not rescaled.",
        stepped(not_rescaled),
        HAS_M,
    ),
    Mistake(
        "stabiliser-rises-alone-between-chunks",
        "stabiliser",
        "A chunk does not rescale the state that comes in to its own stabiliser.",
        with_chunks(kept_with_the_new_maximum),
        HAS_M,
        ("chunkwise",),
    ),
    Mistake(
        "stabiliser-rescales-the-wrong-side",
        "stabiliser",
        "A chunk does not rescale its own sums to the stabiliser, and those of the state twice.",
        by_chunks_of(rescaled_on_the_wrong_side),
        ("mlstm",),
        ("chunkwise", "parallel"),
    ),
    Mistake(
        "stabiliser-not-handed-in",
        "state in",
        "The stabiliser that is handed over is not read: it starts at 0.",
        started_at_zero,
        HAS_M,
        seen_by=("golden", "split"),
    ),
    Mistake(
        "stabiliser-not-handed-out",
        "state out",
        "The stabiliser is never stored.",
        ended_at_zero,
        HAS_M,
        seen_by=("golden", "split"),
    ),
)
