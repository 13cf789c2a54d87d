"""Mistakes of a backward pass whose forward pass is right."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from linattn.algebra import outer, read
from linattn_spec.mistakes.backward_pass import (
    Array,
    Backward,
    GradientMistake,
    Gradients,
    constant,
    right,
    with_gradients,
    with_step,
    without,
)

CHUNK = 16


def zero(g: Array, backward: Backward) -> Array:
    return np.zeros_like(g)


def later(g: Array, by: int = 1) -> Array:
    """Of every token what the token after it should get."""
    return np.concatenate([g[:, :, by:], np.zeros_like(g[:, :, :by])], axis=2)


def within_chunks(g: Array, backward: Backward) -> Array:
    """A sum over all later tokens that ends with the chunk: what comes after it is missing."""
    ends = [min(t - t % CHUNK + CHUNK, g.shape[2]) for t in range(g.shape[2])]
    beyond = np.concatenate([g, np.zeros_like(g[:, :, :1])], axis=2)[:, :, ends]
    return g - beyond


def bfloat16(g: Array) -> Array:
    mantissa, exponent = np.frexp(g)
    return np.ldexp(np.rint(mantissa * 256), exponent - 8).astype(g.dtype)


# -- other passes ------------------------------------------------------------------------------------------------------


def decayed(S: Array, token: Mapping[str, Array]) -> Array:
    return np.exp(token["log_decay"])[..., :, None] * S if "log_decay" in token else S


def erase_is_constant(*names: str) -> Callable[..., Any]:
    """A delta rule whose erase term passes no gradient to ``names``."""

    def step(right_step: Any, state: tuple, token: Mapping[str, Array]) -> Any:
        held = {name: constant(x) if name in names else x for name, x in token.items()}
        S = decayed(state[0], token)
        S = S - outer(held["k"], held["beta"] * read(held["k"], S)) + outer(token["k"], token["beta"] * token["v"])
        return (S,), token["scale"] * read(token["q"], S)

    return step


def own_write_unseen(right_step: Any, state: tuple, token: Mapping[str, Array]) -> Any:
    after, _ = right_step(*state, **token)
    return after, token["scale"] * read(token["q"], decayed(state[0], token))


def normaliser_is_constant(right_step: Any, state: tuple, token: Mapping[str, Array]) -> Any:
    S, z = state[0] + outer(token["k"], token["v"]), constant(state[1] + token["k"])
    total = (constant(token["q"]) * z).sum(axis=-1, keepdims=True) + token["eps"]
    return (S, state[1] + token["k"]), read(token["q"], S) / total


def truncated(backward: Backward) -> Gradients:
    """No gradient flows into the state with which a chunk begins."""
    tokens = count()

    def step(*state: Array, **token: Array) -> Any:
        t = next(tokens)
        return backward.variant.step(*(constant(x) if t and t % CHUNK == 0 else x for x in state), **token)

    return right(replace(backward, variant=replace(backward.variant, step=step)))


def of_first_in_group(backward: Backward) -> Gradients:
    """Of the query heads that share a key and a value, the first one alone adds to their gradients."""
    heads, shared = max(backward.numbers[name].shape[1] for name in ("q", "v")), backward.numbers["k"].shape[1]
    first = np.arange(heads)[:, None, None] % max(heads // shared, 1) == 0
    kept = {n: np.where(first, g, 0) if n == "output" else g for n, g in backward.cotangents.items()}
    other = right(replace(backward, cotangents=kept))
    return right(backward) | {name: other[name] for name in ("k", "v")}


GATED, DELTA = ("log_decay per token",), ("beta",)
GRADIENT_MISTAKES = (
    GradientMistake("gradient-q-zero", "No gradient by q.", with_gradients(q=zero)),
    GradientMistake("gradient-k-zero", "No gradient by k.", with_gradients(k=zero)),
    GradientMistake("gradient-v-zero", "No gradient by v.", with_gradients(v=zero)),
    GradientMistake(
        "gradient-log-decay-zero", "No gradient by log_decay.", with_gradients(log_decay=zero), ("log_decay",)
    ),
    GradientMistake("gradient-beta-zero", "No gradient by beta.", with_gradients(beta=zero), DELTA),
    GradientMistake("gradient-initial-state-zero", "No gradient by the initial state.", with_gradients(S=zero), ("S",)),
    GradientMistake(
        "gradient-of-final-state-ignored", "The loss is taken to depend on the outputs alone.", without("final_state")
    ),
    GradientMistake("gradient-of-output-ignored", "The loss is taken to depend on the state alone.", without("output")),
    GradientMistake(
        "gradient-q-without-scale",
        "The gradient by q misses the scale.",
        with_gradients(q=lambda g, backward: g / backward.numbers["scale"]),
        ("scale", "scale below 1", "S"),
    ),
    GradientMistake(
        "gradient-by-decay",
        "The gradient is that by the decay, not by its logarithm.",
        with_gradients(log_decay=lambda g, b: np.where(g == 0, g, g / np.exp(np.maximum(b.numbers["log_decay"], -60)))),
        ("log_decay",),
    ),
    GradientMistake(
        "gradient-log-decay-not-summed",
        "Every token gets its own part of the gradient by log_decay: the sum over later tokens is missing.",
        with_gradients(log_decay=lambda g, backward: g - later(g)),
        GATED,
    ),
    GradientMistake(
        "gradient-log-decay-shifted",
        "Every token gets the gradient by log_decay of the token after it.",
        with_gradients(log_decay=lambda g, backward: later(g)),
        GATED,
    ),
    GradientMistake(
        "gradient-log-decay-within-chunks",
        "The sum over later tokens ends with the chunk.",
        with_gradients(log_decay=within_chunks),
        GATED,
    ),
    GradientMistake("gradient-stops-at-chunks", "No gradient flows from a chunk to the one before it.", truncated),
    GradientMistake(
        "gradient-v-without-beta",
        "The gradient by v misses beta.",
        with_gradients(v=lambda g, backward: g / np.maximum(backward.numbers["beta"], 2.0**-8)),
        DELTA,
    ),
    GradientMistake(
        "gradient-k-of-write-alone", "The erase gives k no gradient.", with_step(erase_is_constant("k"), "k"), DELTA
    ),
    GradientMistake(
        "gradient-beta-of-write-alone",
        "The erase gives beta no gradient.",
        with_step(erase_is_constant("beta"), "beta"),
        DELTA,
    ),
    GradientMistake(
        "gradient-misses-own-token",
        "Keys and values get no gradient from the output of their own token.",
        with_step(own_write_unseen, "k", "v"),
        ("S", "scale"),
    ),
    GradientMistake(
        "gradient-normaliser-constant",
        "No gradient flows through the normaliser.",
        with_step(normaliser_is_constant),
        ("z", "eps"),
    ),
    GradientMistake(
        "gradient-first-of-group",
        "The gradients by shared keys and values are those of the first query head.",
        of_first_in_group,
    ),
    GradientMistake(
        "gradient-initial-state-late",
        "The gradient by the initial state is that by the state after its first decay.",
        with_gradients(
            S=lambda g, b: np.where(g == 0, g, g / np.exp(np.maximum(b.numbers["log_decay"][:, :, 0, :, None], -60)))
        ),
        ("S", *GATED),
    ),
    GradientMistake(
        "gradient-q-k-in-bfloat16",
        "The gradients by q and k went through bfloat16.",
        with_gradients(q=lambda g, backward: bfloat16(g), k=lambda g, backward: bfloat16(g)),
        profiles=("fp32",),
    ),
)
