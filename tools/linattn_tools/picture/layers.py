"""Layers: how high each name stands, and what the lines between them pass through."""

import random
from collections.abc import Sequence
from itertools import pairwise

from linattn_tools.picture.order import Layers, Near, Pair, crossings, neighbours, untangled

PASSES = " > "  # in the name of a line that passes through a layer
WIDEST = 10  # names in a layer
TRIES = 100
Ways = dict[Pair, list[str]]


def heights(names: Sequence[str], pairs: Sequence[Pair]) -> dict[str, int]:
    """The layer of each name, 0 at the top: every pair points downwards, no layer is wide, lines are short."""
    upwards, downwards = neighbours(pairs)
    depth = depths(names, downwards)
    height: dict[str, int] = {}
    row = 0
    while len(height) < len(names):
        ready = [x for x in names if x not in height and all(height.get(up, row) < row for up in upwards.get(x, ()))]
        height |= dict.fromkeys(sorted(ready, key=lambda x: -depth[x])[:WIDEST], row)
        row += 1
    while any(settle(name, height, upwards.get(name, ()), downwards.get(name, ())) for name in names):
        pass
    return height


def depths(names: Sequence[str], downwards: Near) -> dict[str, int]:
    """The length of the longest way down from each."""
    found: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in found:
            found[name] = 1 + max((depth(lower) for lower in downwards.get(name, ())), default=-1)
        return found[name]

    for name in names:
        depth(name)
    return found


def settle(name: str, height: dict[str, int], above: Sequence[str], below: Sequence[str]) -> bool:
    """To the layer that has room where its lines are shortest. Whether they became shorter."""
    first = max((height[x] for x in above), default=-1) + 1
    last = min((height[x] for x in below), default=max(height.values()) + 1) - 1
    full = {row for row in range(first, last + 1) if list(height.values()).count(row) >= WIDEST}

    def length(row: int) -> int:
        return sum(abs(height[x] - row) for x in (*above, *below))

    best = min((row for row in range(first, last + 1) if row not in full), key=length, default=height[name])
    shorter = length(best) < length(height[name])
    if shorter:
        height[name] = best
    return shorter


def layered(names: Sequence[str], pairs: Sequence[Pair]) -> tuple[Layers, Ways]:
    """The layers, and for every pair all that its line goes through: the best of what several orders lead to."""
    tries = (tried(shuffled(names, seed), pairs) for seed in range(TRIES))
    return min(tries, key=lambda found: crossings(found[0], neighbours(steps(found[1]))[1]))


def shuffled(names: Sequence[str], seed: int) -> list[str]:
    rng = random.Random(seed)
    return sorted(names, key=lambda name: rng.random()) if seed else list(names)


def tried(names: Sequence[str], pairs: Sequence[Pair]) -> tuple[Layers, Ways]:
    height = heights(names, pairs)
    rows: Layers = [[] for _ in range(1 + max(height.values()))]
    for name in names:
        rows[height[name]].append(name)
    ways = {}
    for upper, lower in pairs:
        between = [f"{upper}{PASSES}{lower} {row}" for row in range(height[upper] + 1, height[lower])]
        for row, name in enumerate(between, height[upper] + 1):
            rows[row].append(name)
        ways[upper, lower] = [upper, *between, lower]
    return untangled(rows, steps(ways)), ways


def steps(ways: Ways) -> list[Pair]:
    """All pieces of all lines, each from a layer to the next."""
    return [step for way in ways.values() for step in pairwise(way)]
