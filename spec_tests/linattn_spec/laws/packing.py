"""Laws of what is packed: sequences in one call, tokens in a chunk."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

import linattn_golden
from linattn import forms
from linattn.record import Variant
from linattn.variants import variant
from linattn_spec import verdict
from linattn_spec.backend import Unsupported
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Results, grows
from linattn_spec.laws.law import SLACK, Law, along_time, as_it_came, other, returned, takes, unless_refused
from linattn_spec.profiles import Profile
from linattn_spec.subject import Subject, case_of

Part = tuple[dict[str, Any], tuple | None]  # inputs and state of one sequence


def chunk_size(subject: Subject) -> Iterator[Comparison]:
    """Chunks of any size that is accepted, longer than the sequence too, give the same results."""
    tokens = subject.case.dims["T"]
    sizes = [size for size in sorted({1, 3, 16, 64, tokens, 2 * tokens}) if takes(subject, C=size)]
    if not sizes:
        raise Unsupported(f"accepts {subject.exchange.function.accepts}: no chunk size that is tried")
    whole = subject.run()
    for size in sizes:
        results = subject.exchange(subject.data.inputs, subject.state, chunk_size=size)
        yield Comparison(results, whole, subject.truth.units, SLACK, f"chunk size {size}: ")


def packing(subject: Subject) -> Iterator[Comparison]:
    """Sequences packed along T, empty ones too (or refused), give what each gives alone; none sees another."""
    borders, function = borders_of(subject), subject.exchange.function
    fresh = grows(subject.variant) or "initial_state" not in function.parameters
    parts = sequences(subject.case.id, borders, fresh)
    units = units_of(subject.case.id, borders, fresh, subject.exchange.profile, function.form == "bidirectional")
    alone = [of_one_size(subject.variant, subject.exchange(*part)) for part in parts]

    def against(want: list[Results], units: list[Results], results: Results, what: str) -> Comparison:
        results = returned(results, want[0])
        return Comparison(results, joined(want), joined(units), SLACK, f"packed at {borders}{what}: ")

    yield against(alone, units, packed(subject, parts), "")
    for n in (0, len(parts) - 1):
        results = packed(subject, [changed(subject.variant, part) if part is parts[n] else part for part in parts])
        others = [x for x in range(len(parts)) if x != n]
        want, own = [alone[x] for x in others], [units[x] for x in others]
        yield against(want, own, without(results, n, borders), f", sequence {n} changed")
    nothing, as_it_came, exact = no_tokens(subject.variant, parts[0], alone[0], units[0])
    with_empty = unless_refused(lambda: packed(subject, between(parts, nothing)))
    if with_empty is not None:
        yield against(between(alone, as_it_came), between(units, exact), with_empty, ", empty sequences between")


def borders_of(subject: Subject) -> tuple[int, ...]:
    """Three sequences, one of them of one token, or two, each of a length that the function accepts."""
    tokens = subject.case.dims["T"]
    for borders in ((0, tokens // 2, tokens // 2 + 1, tokens), (0, tokens // 2, tokens)):
        if all(takes(subject, B=1, T=stop - start) for start, stop in pairwise(borders)):
            return borders
    raise Unsupported(f"accepts {subject.exchange.function.accepts}: no pieces of T={tokens}")


def sequences(case_id: str, borders: Sequence[int], fresh: bool) -> list[Part]:
    """Pieces of the first batch entry, each with a state of its own unless all start afresh."""
    case = case_of(case_id)
    data = linattn_golden.load(case)

    def part(n: int, window: slice) -> Part:
        inputs = along_time(variant(case.variant), data.inputs, lambda x: x[:1, :, window])
        return inputs, None if fresh else tuple(np.roll(x[:1], n, axis=-1) for x in data.initial_state or ())

    return [part(n, slice(*pair)) for n, pair in enumerate(pairwise(borders))]


@lru_cache(maxsize=64)
def units_of(case_id: str, borders: Sequence[int], fresh: bool, profile: Profile, bidirectional: bool) -> list[Results]:
    """The units of each sequence alone, for those of the case belong to other states.

    Pieces are so short against K that causal forms do not differ in their noise.
    """
    record, form = variant(case_of(case_id).variant), "bidirectional" if bidirectional else "recurrent"
    parts = sequences(case_id, borders, fresh)
    return [of_one_size(record, verdict.truth(record, profile, form, *part).units) for part in parts]


def of_one_size(record: Variant, results: Results) -> Results:
    """What fits in one array for several sequences: caches of different lengths do not."""
    return {"output": results["output"]} if grows(record) else results


def packed(subject: Subject, parts: Sequence[Part]) -> Results:
    """One call for all sequences."""
    timed = {item.name for item in subject.variant.inputs if item.time is not None}
    first = parts[0][0]
    inputs = {n: np.concatenate([own[n] for own, _ in parts], axis=2) if n in timed else x for n, x in first.items()}
    states = [state for _, state in parts if state is not None]
    state = tuple(np.concatenate(tensor) for tensor in zip(*states, strict=True)) if states else None
    borders = np.cumsum([0] + [forms.length(subject.variant, own) for own, _ in parts])
    return subject.exchange(inputs, state, cu_seqlens=borders.tolist())


def joined(results: Sequence[Results]) -> Results:
    """Outputs along T, states along the sequences."""
    return {name: np.concatenate([own[name] for own in results], 2 * (name == "output")) for name in results[0]}


def changed(record: Variant, part: Part) -> Part:
    inputs, state = part
    return along_time(record, inputs, other), state and tuple(x if x.ndim < 4 else other(x) for x in state)


def without(results: Results, n: int, borders: Sequence[int]) -> Results:
    """What belongs to the other sequences."""

    def others(x: np.ndarray, axis: int, start: int, stop: int) -> np.ndarray:
        place = np.arange(x.shape[axis])
        return np.compress((place < start) | (place >= stop), x, axis)

    return {
        name: others(x, 2, borders[n], borders[n + 1]) if name == "output" else others(x, 0, n, n + 1)
        for name, x in results.items()
    }


def no_tokens(record: Variant, part: Part, results: Results, units: Results) -> tuple[Part, Results, Results]:
    """An empty sequence, its results, and their units: the state stays as it came."""
    inputs, state = part
    names = [name for name in results if name != "output"]
    want = {"output": results["output"][:, :, :0]} | dict(zip(names, state or (), strict=False))
    nothing = along_time(record, inputs, lambda x: x[:, :, :0]), state
    return nothing, want, as_it_came(record, want, units)


def between(items: Sequence[Any], one: Any) -> list[Any]:
    """``one`` before, between and after them."""
    return [one, *(x for item in items for x in (item, one))]


PACKING = (
    Law("chunk_size", chunk_size, ("odd-dims", "long", "recipe-64"), applies=lambda f: "chunk_size" in f.parameters),
    Law("packing", packing, ("odd-dims", "long", "recipe-64"), applies=lambda f: "cu_seqlens" in f.parameters),
)
