"""Tokens that see what they should not, or take what is not theirs."""

from dataclasses import replace

import numpy as np

from linattn import forms
from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.record import (
    Call,
    Mistake,
    Results,
    right,
    with_all_heads,
    with_inputs,
    with_output,
)


def sees_next_token(call: Call) -> Results:
    """Every output is read one token later than its query."""
    results = right(call)
    later = right(replace(call, inputs={**call.inputs, "q": shifted(call.inputs["q"], 1)}))["output"]
    return {**results, "output": np.concatenate([later[:, :, 1:], results["output"][:, :, -1:]], axis=2)}


def not_causal(call: Call) -> Results:
    return {**right(call), "output": forms.bidirectional(call.variant, with_all_heads(call).inputs)}


CAUSALITY = (
    Mistake(
        "sees-the-next-token",
        "causality",
        "The mask is off by one: a token sees the next.",
        sees_next_token,
        seen_by=("golden", "prefix"),
    ),
    Mistake(
        "outputs-a-token-late",
        "causality",
        "The output of token t is that of t - 1.",
        with_output(lambda x, c: shifted(x, 1)),
    ),
    Mistake(
        "outputs-a-token-early",
        "causality",
        "The output of token t is that of t + 1.",
        with_output(lambda x, c: shifted(x, -1)),
        seen_by=("golden", "prefix"),
    ),
    Mistake(
        "keys-and-values-a-token-early",
        "causality",
        "Token t writes what t + 1 should.",
        with_inputs(k=lambda x, c: shifted(x, -1), v=lambda x, c: shifted(x, -1)),
        seen_by=("golden", "prefix"),
    ),
    Mistake(
        "values-a-token-late",
        "causality",
        "Token t writes the value of t - 1.",
        with_inputs(v=lambda x, c: shifted(x, 1)),
    ),
    Mistake(
        "keys-a-token-late",
        "causality",
        "Token t writes with the key of t - 1.",
        with_inputs(k=lambda x, c: shifted(x, 1)),
    ),
    Mistake(
        "queries-a-token-late",
        "causality",
        "Token t reads with the query of t - 1.",
        with_inputs(q=lambda x, c: shifted(x, 1)),
    ),
    Mistake(
        "not-causal",
        "causality",
        "Every token sees every token.",
        not_causal,
        ("bidirectional",),
        forms=("parallel",),
        seen_by=("golden", "prefix"),
    ),
)
