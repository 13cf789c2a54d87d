"""The order in every layer, so that few lines cross: the method of Sugiyama, Tagawa and Toda."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise
from statistics import fmean

Pair = tuple[str, str]  # upper and lower
Layers = list[list[str]]  # of names, the most general at the top first
Near = dict[str, list[str]]
SWEEPS = 10


def neighbours(steps: Iterable[Pair]) -> tuple[Near, Near]:
    """Those above each name, and those below."""
    above: Near = {}
    below: Near = {}
    for upper, lower in steps:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    return above, below


def untangled(rows: Layers, steps: Sequence[Pair]) -> Layers:
    """The best order that was found. Every step leads from a layer to the next."""
    above, below = neighbours(steps)
    return min(swept(rows, above, below), key=lambda order: crossings(order, below))


def swept(rows: Layers, above: Near, below: Near) -> Iterator[Layers]:
    """Down and up again, each layer in the order of the means of its neighbours in the layer before it."""
    place = {name: n for row in rows for n, name in enumerate(row)}
    for sweep in range(SWEEPS):
        near = (above, below)[sweep % 2]
        for row in rows[:: (-1) ** sweep]:
            mean = {name: fmean(place[x] for x in near[name]) if name in near else place[name] for name in row}
            row.sort(key=mean.__getitem__)
            exchange(row, place, (above, below))
            place |= {name: n for n, name in enumerate(row)}
        yield [list(row) for row in rows]


def exchange(row: list[str], place: dict[str, int], sides: tuple[Near, Near]) -> None:
    """Neighbours change places as long as that takes crossings away."""

    def gain(left: str, right: str) -> int:
        pairs = ((place[a], place[b]) for side in sides for a in side.get(left, ()) for b in side.get(right, ()))
        return sum((a > b) - (a < b) for a, b in pairs)

    moved = True
    while moved:
        moved = False
        for n, (left, right) in enumerate(pairwise(list(row))):
            if row[n : n + 2] == [left, right] and gain(left, right) > 0:
                row[n : n + 2] = right, left
                moved = True


def crossings(rows: Layers, below: Near) -> int:
    place = {name: n for row in rows for n, name in enumerate(row)}
    lines = [[(place[name], place[x]) for name in row for x in below.get(name, ())] for row in rows]
    return sum((a - c) * (b - d) < 0 for layer in lines for (a, b), (c, d) in combinations(layer, 2))
