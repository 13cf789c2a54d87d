"""Lines as curves: from the lower side of a box to the upper side of another, straight down wherever they pass."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

Point = tuple[float, float]
APART = 7  # of the ends of lines at one side of a box, where there is room


def curves(ways: Sequence[Sequence[str]], at: Mapping[str, Point], size: Mapping[str, Point]) -> list[str]:
    """The SVG path of each way, through the places of all names on it; the ends of a box stand side by side."""
    starts = spread([(way[0], at[way[1]][0]) for way in ways], size)
    stops = spread([(way[-1], at[way[-2]][0]) for way in ways], size)
    return [curve(way, start, stop, at, size) for way, start, stop in zip(ways, starts, stops, strict=True)]


def spread(ends: Sequence[tuple[str, float]], size: Mapping[str, Point]) -> list[float]:
    """How far from the middle of its box each line ends, in the order in which they come from elsewhere."""
    shifts = [0.0] * len(ends)
    for box in dict.fromkeys(name for name, _ in ends):
        mine = sorted((n for n, (name, _) in enumerate(ends) if name == box), key=lambda n: ends[n][1])
        apart = min(APART, (size[box][0] - 2 * APART) / max(1, len(mine) - 1))
        for place, n in enumerate(mine):
            shifts[n] = apart * (place - (len(mine) - 1) / 2)
    return shifts


def curve(way: Sequence[str], start: float, stop: float, at: Mapping[str, Point], size: Mapping[str, Point]) -> str:
    (first, top), (last, bottom) = at[way[0]], at[way[-1]]
    points = [
        (first + start, top + size[way[0]][1] / 2),
        *(at[name] for name in way[1:-1]),
        (last + stop, bottom - size[way[-1]][1] / 2),
    ]
    pieces = [f"M{number(points[0][0])} {number(points[0][1])}"]
    for (a, b), (c, d) in pairwise(points):
        middle = number((b + d) / 2)
        pieces.append(f"C{number(a)} {middle} {number(c)} {middle} {number(c)} {number(d)}")
    return "".join(pieces)


def number(x: float) -> str:
    return f"{round(x, 1):g}"
