"""The denominators of mLSTM, max(|z.q|, 1) of what the state stands for, and its gates."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import dot, read
from linattn.families import with_ones
from linattn_spec.mistakes.inside import sigmoid, softplus
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_all_heads, with_inputs, with_step

MLSTM, GATED = ("mlstm",), ("i", "q")
CLAMPED = ("https://github.com/Benjamin-Walker/structured-linear-cdes/pull/17",)
LACKING = ("https://github.com/muditbhargava66/PyxLSTM/issues/27",)


def over(denominator: Callable[[Array, Array], Array]) -> Callable[[Call], Results]:
    """Another ``denominator(total, one)`` of the stabilised sum: ``total`` is scale z.q, ``one`` stands for 1."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        after, _ = step(*state, **token)
        S, z, *m = after
        total = token["scale"] * dot(token["q"], z)
        one = np.exp(-m[0]) if m else np.ones_like(total)
        return after, token["scale"] * read(token["q"], S) / denominator(total, one)

    return with_step(changed)


def divided(call: Call) -> Results:
    """By the size of the normaliser that the cell does not have."""
    call, results = with_all_heads(call), right(call)
    inputs = {**call.inputs, "v": with_ones(call.inputs["v"])}
    output = right(replace(call, inputs=inputs, state=tuple(with_zeros(S) for S in call.state)))["output"]
    return {**results, "output": output[..., :-1] / np.maximum(np.abs(output[..., -1:]), 1)}


def with_zeros(S: Array) -> Array:
    return np.concatenate([S, 0 * S[..., :1]], axis=-1)


def scale_on_the_sum_alone(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, output = step(*state, **{**token, "scale": np.ones_like(token["scale"])})
    return after, token["scale"] * output


BOTH = {
    "denominator-missing": ("The output is not divided.", lambda total, one: one / one, LACKING),
    "denominator-not-bounded": ("The denominator is not kept from 0.", lambda total, one: np.abs(total), ()),
    "denominator-with-its-sign": ("The denominator keeps its sign.", lambda total, one: np.maximum(total, one), ()),
    "denominator-added-to-1": ("1 is added to the denominator.", lambda total, one: np.abs(total) + one, ()),
    "denominator-rooted": (
        "The denominator is a root of squares that are added up.",
        lambda total, one: np.sqrt(total**2 + one**2),
        (),
    ),
}

DENOMINATORS = (
    *(
        Mistake(
            f"{family.replace('_', '-')}-{name}",
            "normaliser",
            f"{family}: {words}",
            over(change),
            (family,),
            seen_in=seen,
        )
        for family in ("mlstm", "mlstm_sigmoid_normalised")
        for name, (words, change, seen) in BOTH.items()
    ),
    Mistake(
        "mlstm-sigmoid-divided",
        "normaliser",
        "mlstm_sigmoid: The output is divided as that of mLSTM.",
        divided,
        ("mlstm_sigmoid",),
    ),
    Mistake(
        "mlstm-denominator-of-a-relative-1",
        "normaliser",
        "The denominator is at least 1, where everything else is relative to exp(m).",
        over(lambda total, one: np.maximum(np.abs(total), 1)),
        MLSTM,
    ),
    Mistake(
        "mlstm-denominator-exponent-clamped",
        "normaliser",
        "The stabiliser is clamped at 50 in the denominator.",
        over(lambda total, one: np.maximum(np.abs(total), np.clip(one, np.exp(-50), np.exp(50)))),
        MLSTM,
        profiles=("fp32", "bf16"),  # what it shows is smaller than what float16 holds
        seen_in=CLAMPED,
    ),
    Mistake(
        "mlstm-eps-in-the-denominator",
        "eps",
        "1e-6 is added to the stabilised denominator.",
        over(lambda total, one: np.maximum(np.abs(total), one) + 1e-6),
        MLSTM,
        profiles=("fp32",),
    ),
    Mistake(
        "scale-not-in-the-denominator",
        "scale",
        "The scale is missing in the denominator.",
        with_step(scale_on_the_sum_alone),
        ("z", "log_decay", "scale below 1"),
    ),
    Mistake(
        "input-gate-through-a-sigmoid",
        "gate",
        "The exponential input gate is taken for a sigmoid one.",
        with_inputs(log_input=lambda x, c: -softplus(-x)),
        MLSTM,
    ),
    Mistake(
        "input-gate-not-exponentiated",
        "gate",
        "The logarithm of the input gate is taken for the gate.",
        with_inputs(log_input=lambda x, c: np.log(np.maximum(x, 2.0**-10))),
        MLSTM,
    ),
    Mistake(
        "input-gate-exponentiated",
        "gate",
        "The sigmoid input gate is taken for the logarithm of one.",
        with_inputs(i=lambda x, c: np.exp(x)),
        GATED,
    ),
    Mistake(
        "input-gate-through-a-sigmoid-twice",
        "gate",
        "The input gate goes through a second sigmoid.",
        with_inputs(i=lambda x, c: sigmoid(x)),
        GATED,
    ),
)
