"""The triangular system inside a chunk of a delta rule."""

from typing import Any

import numpy as np

from linattn import forms
from linattn.algebra import decays, products, transpose, unit_lower_solve
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    with_chunks,
)


def delta_chunks(solve: Any = unit_lower_solve, **weights: Any) -> Any:
    """Chunks of a delta rule with another triangular solve or with weights left out: ``erase``, ``read``."""

    def fold(call: Call, windows: list[slice]) -> Any:
        S, outputs = call.state[0], []
        for window in windows:
            x = forms.take(call.variant, call.inputs, window)
            gate = x.get("log_decay", np.zeros_like(x["beta"]))
            between, since_start, until_end = decays(gate)
            q, k, beta = x["q"], x["k"], x["beta"]
            ones = np.ones_like(between)
            L = beta * np.tril(
                products(k, k, weights.get("erase", lambda w, o: w)(between, ones)), weights.get("diagonal", -1)
            )
            u = solve(L, beta * (x["v"] - (since_start * k) @ S))
            inner = np.tril(products(q, k, weights.get("read", lambda w, o: w)(between, ones)))
            outputs.append(x["scale"] * ((since_start * q) @ S + inner @ u))
            S = since_start[..., -1, :, None] * S + transpose(until_end * k) @ u
        return (S,), outputs

    return with_chunks(fold)


def first_order(L: Array, B: Array) -> Array:
    return B - L @ B


def second_order(L: Array, B: Array) -> Array:
    return B - L @ (B - L @ B)


def with_diagonal(L: Array, B: Array) -> Array:
    """(I + L)^-1 B for an L that has a diagonal: every row is divided by its pivot."""
    pivots = 1 + np.diagonal(L, axis1=-2, axis2=-1)[..., None]
    return unit_lower_solve(L / pivots, B / pivots)


DELTA, WHERE = ("beta",), ("chunkwise",)

TRIANGULAR = (
    Mistake(
        "inverse-to-first-order", "triangular", "(I + L)^-1 is taken as I - L.", delta_chunks(first_order), DELTA, WHERE
    ),
    Mistake(
        "inverse-to-second-order",
        "triangular",
        "(I + L)^-1 is taken as I - L + L^2.",
        delta_chunks(second_order),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-with-diagonal",
        "triangular",
        "The triangular system keeps its diagonal.",
        delta_chunks(with_diagonal, diagonal=0),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-without-decay",
        "triangular",
        "The triangular system lacks the decays.",
        delta_chunks(erase=lambda w, ones: ones),
        ("beta", "log_decay"),
        WHERE,
    ),
    Mistake(
        "read-without-decay",
        "chunk",
        "Q K^T is masked without the decays.",
        delta_chunks(read=lambda w, ones: ones),
        ("beta", "log_decay"),
        WHERE,
        seen_in=("https://github.com/NVlabs/GatedDeltaNet/issues/14",),
    ),
)
