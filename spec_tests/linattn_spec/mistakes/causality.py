"""Tokens that see what they should not, or take what is not theirs."""

from dataclasses import replace

import numpy as np

from linattn import forms
from linattn.forms import OUTPUT_TIME
from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.record import (
    CAUSAL,
    Array,
    Call,
    Mistake,
    Results,
    call_of,
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


def causal(inputs: dict[str, Array], call: Call) -> Array:
    """What the tokens up to its own give to each."""
    return right(call_of(call.variant, "parallel", inputs, None))["output"]


def anticausal(call: Call) -> Array:
    """What its own and later tokens give."""
    turned = {item.name: item.time for item in call.variant.inputs if item.time is not None}
    inputs = {name: np.flip(x, turned[name]) if name in turned else x for name, x in call.inputs.items()}
    return np.flip(causal(inputs, call), OUTPUT_TIME)


def not_causal(call: Call) -> Results:
    return {**right(call), "output": forms.bidirectional(call.variant, with_all_heads(call).inputs)}


CAUSALITY = (
    Mistake(
        "sees-the-next-token",
        "causality",
        "The mask is off by one: a token sees the next.",
        sees_next_token,
        forms=CAUSAL,
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
    Mistake(
        "masked",
        "causality",
        "The causal mask is left on where every token should see every token.",
        lambda call: {"output": causal(call.inputs, call)},
        forms=("bidirectional",),
    ),
    Mistake(
        "masked-the-wrong-way",
        "causality",
        "Every token sees its own and later ones, where it should see all.",
        lambda call: {"output": anticausal(call)},
        forms=("bidirectional",),
    ),
    Mistake(
        "two-directions-added",
        "causality",
        "The outputs of a pass forwards and of one backwards are added: a token's own write counts twice.",
        lambda call: {"output": causal(call.inputs, call) + anticausal(call)},
        forms=("bidirectional",),
    ),
)
