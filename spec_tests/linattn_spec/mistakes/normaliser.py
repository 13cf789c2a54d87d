"""The normaliser and its eps."""

from dataclasses import replace
from typing import Any

import numpy as np

from linattn import forms
from linattn.algebra import dot, read, transpose
from linattn_spec.mistakes.moved import first_of
from linattn_spec.mistakes.record import (
    Array,
    Call,
    Mistake,
    Results,
    piece,
    right,
    with_chunks,
    with_inputs,
    with_step,
)


def normalised(function: Any) -> Any:
    """Normalised linear attention with another output: ``function(weighted, total, eps)``."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (S, z), _ = step(*state, **token)
        return (S, z), function(read(token["q"], S), dot(token["q"], z), token["eps"])

    return with_step(changed)


def total_before_write(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S, z), _ = step(*state, **token)
    return (S, z), read(token["q"], S) / (dot(token["q"], state[1]) + token["eps"])


def mean_of_tokens(call: Call) -> Results:
    results, total = right(call), with_step(divided_by_nothing)(call)["output"]
    count = np.arange(1, total.shape[2] + 1)[:, None]
    return {**results, "output": (total / count).astype(total.dtype)}


def divided_by_nothing(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, read(token["q"], after[0])


def of_the_chunk(call: Call, windows: list[slice]) -> Any:
    (S, z), outputs = call.state, []
    for window in windows:
        x = forms.take(call.variant, call.inputs, window)
        weights = np.tril(x["q"] @ transpose(x["k"]))
        outputs.append((x["q"] @ S + weights @ x["v"]) / (weights.sum(axis=-1, keepdims=True) + x["eps"]))
        (S, z), _ = piece(call, window, (S, z))
    return (S, z), outputs


def final_normaliser_zero(call: Call) -> Results:
    results = right(call)
    return {**results, "final_state/z": 0 * results["final_state/z"]}


def normaliser_of_the_first_head(call: Call) -> Results:
    S, z = call.state
    return right(replace(call, state=(S, first_of(z, 1))))


NORMALISER = (
    Mistake(
        "normaliser-missing", "normaliser", "The output is not divided.", normalised(lambda o, n, eps: o), ("eps", "z")
    ),
    Mistake(
        "normaliser-multiplied",
        "normaliser",
        "The output is multiplied by the normaliser.",
        normalised(lambda o, n, eps: o * (n + eps)),
        ("eps", "z"),
        seen_in=(
            "https://github.com/lucidrains/performer-pytorch/issues/13",
            "https://github.com/lucidrains/performer-pytorch/issues/40",
        ),
    ),
    Mistake(
        "normaliser-before-write",
        "normaliser",
        "The normaliser lacks the token itself.",
        with_step(total_before_write),
        ("eps", "z"),
    ),
    Mistake(
        "normaliser-root",
        "normaliser",
        "The output is divided by the root of the normaliser.",
        normalised(lambda o, n, eps: o / (n + eps) ** 0.5),
        ("eps", "z"),
    ),
    Mistake("eps-missing", "eps", "eps is not added.", with_inputs(eps=lambda x, c: 0 * x), ("eps",)),
    Mistake(
        "eps-as-minimum",
        "eps",
        "eps bounds the normaliser from below instead of being added.",
        normalised(lambda o, n, eps: o / np.maximum(n, eps)),
        ("eps", "z"),
    ),
    Mistake(
        "eps-in-numerator",
        "eps",
        "eps is added to the numerator too.",
        normalised(lambda o, n, eps: (o + eps) / (n + eps)),
        ("eps", "z"),
    ),
    Mistake(
        "eps-under-a-root",
        "eps",
        "eps is added under a root.",
        normalised(lambda o, n, eps: o / (n * n + eps) ** 0.5),
        ("eps", "z"),
    ),
    Mistake(
        "eps-per-channel",
        "eps",
        "eps is added in every term of the normaliser: K times in all.",
        with_inputs(eps=lambda x, c: x * c.inputs["q"].shape[-1]),
        ("eps", "z"),
    ),
    Mistake(
        "eps-of-its-own",
        "eps",
        "The eps that is given is not used: it is always 1e-6.",
        with_inputs(eps=lambda x, c: 0 * x + 1e-6),
        ("eps",),
    ),
    Mistake(
        "normaliser-counts-tokens",
        "normaliser",
        "The output is divided by the number of tokens.",
        mean_of_tokens,
        ("eps", "z"),
    ),
    Mistake(
        "normaliser-of-the-chunk",
        "normaliser",
        "Every chunk divides by what it wrote itself.",
        with_chunks(of_the_chunk),
        ("eps", "z"),
        ("chunkwise",),
        seen_in=("https://github.com/syncdoth/RetNet/issues/10",),
    ),
    Mistake(
        "final-normaliser-zero",
        "state out",
        "The normaliser is never stored.",
        final_normaliser_zero,
        ("z",),
        seen_by=("golden", "split"),
    ),
    Mistake(
        "normaliser-of-the-first-head",
        "normaliser",
        "All heads start from the first one's normaliser.",
        normaliser_of_the_first_head,
        ("z",),
    ),
)
