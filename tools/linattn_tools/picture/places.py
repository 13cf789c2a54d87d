"""Places: every layer keeps its order, and all lines together are as straight as there is room."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from linattn_tools.picture.layers import PASSES
from linattn_tools.picture.order import Layers, Pair

SWEEPS = 200
STRAIGHT = (1.0, 2.0, 8.0)  # how much a piece of a line wants to be straight, by how many of its ends pass through
INERTIA = 0.01  # with which a name stays where it is: all there is without neighbours
Pulls = dict[str, list[tuple[str, float]]]  # of every name: its neighbours and their weights


def places(rows: Layers, steps: Sequence[Pair], width: Mapping[str, float]) -> dict[str, int]:
    """The middle of every name across the page, which is as wide as the widest layer."""
    widest = max(sum(width[name] for name in row) for row in rows)
    pulls: Pulls = {name: [(name, INERTIA)] for row in rows for name in row}
    for upper, lower in steps:
        weight = STRAIGHT[(PASSES in upper) + (PASSES in lower)]
        pulls[upper].append((lower, weight))
        pulls[lower].append((upper, weight))
    x = {name: place for row in rows for name, place in zip(row, side_by_side(row, width), strict=True)}
    for sweep in range(SWEEPS):
        for row in rows[:: (-1) ** sweep]:
            x |= pulled(row, pulls, x, width, widest)
    return {name: round(place + widest / 2) for name, place in x.items()}


def side_by_side(row: Sequence[str], width: Mapping[str, float]) -> list[float]:
    """Without room between them, and in the middle of the page."""
    edges = [0.0]
    for name in row:
        edges.append(edges[-1] + width[name])
    return [(a + b - edges[-1]) / 2 for a, b in pairwise(edges)]


def pulled(
    row: Sequence[str], pulls: Pulls, x: Mapping[str, float], width: Mapping[str, float], widest: float
) -> dict[str, float]:
    """The least squares for one layer while all others stay: shifts from side by side, which may never fall."""
    tight, room = side_by_side(row, width), (widest - sum(width[name] for name in row)) / 2
    weights = [sum(weight for _, weight in pulls[name]) for name in row]
    wanted = [sum(x[other] * weight for other, weight in pulls[name]) for name in row]
    shifts = never_falling([a / b - c for a, b, c in zip(wanted, weights, tight, strict=True)], weights)
    return {name: place + min(max(shift, -room), room) for name, place, shift in zip(row, tight, shifts, strict=True)}


def never_falling(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The nearest sequence that never falls: neighbours that would are pooled."""
    pools: list[tuple[float, float, int]] = []  # sum of weighted values, sum of weights, count
    for value, weight in zip(values, weights, strict=True):
        pools.append((value * weight, weight, 1))
        while len(pools) > 1 and pools[-2][0] / pools[-2][1] > pools[-1][0] / pools[-1][1]:
            (a, b, n), (c, d, m) = pools.pop(), pools.pop()
            pools.append((a + c, b + d, n + m))
    return [total / weight for total, weight, count in pools for _ in range(count)]
