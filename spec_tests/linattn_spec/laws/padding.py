"""Laws of padding: tokens that write nothing are not seen by the others."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from linattn.record import Variant
from linattn.variants import variant
from linattn_spec.backend import Function
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Results, grows
from linattn_spec.laws.law import SLACK, Law
from linattn_spec.subject import Subject

BLOCK = 64  # tokens, which padding fills up


def neutral(subject: Subject) -> Iterator[Comparison]:
    """A token that writes nothing and lets nothing decay, wherever it stands, changes nothing for the others."""
    tokens, whole = subject.case.dims["T"], subject.run()
    for at in (0, tokens // 2, tokens):
        yield inserted(subject, whole, at, 1, idle(subject.variant), f"a neutral token inserted at {at}: ")


def padding(subject: Subject) -> Iterator[Comparison]:
    """Padding on the left or the right changes nothing; without a neutral token: no outputs, on the right."""
    tokens, whole, nothing = subject.case.dims["T"], subject.run(), idle(subject.variant)
    count = BLOCK - tokens % BLOCK
    if has_neutral_token(subject.exchange.function):
        yield inserted(subject, whole, 0, count, nothing, f"{count} neutral tokens on the left: ")
        yield inserted(subject, whole, tokens, count, nothing, f"{count} neutral tokens on the right: ")
    else:
        right = inserted(subject, whole, tokens, count, {}, f"{count} more tokens on the right: ")
        yield replace(right, got={"output": right.got["output"]})


def inserted(
    subject: Subject, whole: Results, at: int, count: int, values: Mapping[str, float], what: str
) -> Comparison:
    """``count`` copies of a token, but for these values, inserted at a place: the others keep their results."""
    tokens = subject.case.dims["T"]
    subject.exchange.function.check_accepts({**subject.case.dims, "T": tokens + count})

    times = {item.name: item.time for item in subject.variant.inputs}

    def insert(name: str, x: np.ndarray) -> np.ndarray:
        token = x[:, :, [min(at, tokens - 1)]]
        return np.insert(x, [at] * count, np.full_like(token, values.get(name, token)), axis=2)

    inputs = {n: x if times[n] is None else insert(n, x) for n, x in subject.data.inputs.items()}
    results = subject.exchange(inputs, subject.state)
    results["output"] = np.delete(results["output"], slice(at, at + count), axis=2)
    return Comparison(results, whole, subject.truth.units, SLACK, what)


def idle(record: Variant) -> dict[str, float]:
    """What a token has, whatever its query, that writes nothing and lets nothing decay: neutral gates, and zeros."""
    timed = (item for item in record.inputs if item.time is not None and item.heads != "q")
    return {item.name: (item.neutral or 0) if item.role == "gate" else 0 for item in timed}


def has_neutral_token(function: Function) -> bool:
    """No token is neutral where a cache counts every one, or where the decay is the same for all; or by the record."""
    record = variant(function.variant)
    constant = any(item.name == "log_decay" and item.time is None for item in record.inputs)
    return not (grows(record) or constant or "neutral" in record.exempt)


def can_be_padded(function: Function) -> bool:
    """Where every token sees every token, tokens that are not neutral are seen on the right too."""
    return has_neutral_token(function) or function.form != "bidirectional"


PADDING = (
    Law("neutral", neutral, ("odd-dims", "recipe-64"), applies=has_neutral_token),
    Law("padding", padding, ("long", "recipe-64"), applies=can_be_padded),
)
