"""The picture as SVG: boxes and lines in the colours of the families, and what is said of them."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from linattn.variants import FAMILIES
from linattn.variants import variant as find
from linattn_tools.picture.colours import COLOURS, DARK, LIGHT
from linattn_tools.picture.curves import curves
from linattn_tools.picture.graph import NAMES, Link, links
from linattn_tools.picture.layers import PASSES, Ways, layered, steps
from linattn_tools.picture.places import places

LINE_WORDS = {
    "contains": "the upper one contains the lower one",
    "both": "each contains the other",
    "meets": "they meet where both are restricted",
    "implied": "follows from others",
    "looks": "only looks like it",
}
LETTERS = 15  # in a line of a box
BOX, GAP, LINE, ROW, PASSING = 116, 10, 15, 84, 10  # PASSING is the room of a line that goes through a layer
MARGIN, HEAD, LEGEND = 26, 78, 84


@dataclass(frozen=True)
class Box:
    """A variant: its middle, its family and its title in lines."""

    name: str
    summary: str
    family: int
    lines: list[str]
    x: int
    y: int

    @property
    def height(self) -> int:
        return LINE * len(self.lines) + 11


def render(lookalikes: bool = False) -> str:
    drawn = links(lookalikes)
    at, ways = laid_out(drawn)
    boxes = {name: box(name, *at[name]) for name in NAMES}
    straight = [sorted((link.upper, link.lower), key=lambda name: at[name][1]) for link in drawn]
    full = [ways.get((link.upper, link.lower), ends) for link, ends in zip(drawn, straight, strict=True)]
    paths = curves(full, at, {name: (BOX, boxes[name].height) for name in NAMES})
    lines = [(link, boxes[link.upper].family, path) for link, path in zip(drawn, paths, strict=True)]
    return template().render(
        boxes=boxes.values(),
        lines=sorted(lines, key=lambda line: not line[0].implied),  # those that follow are behind
        families=beside([(str(n), colour.words) for n, colour in enumerate(COLOURS)], 20),
        kinds=beside([(kind, words) for kind, words in LINE_WORDS.items() if kind != "looks" or lookalikes], 42),
        width=max(x + (BOX if name in boxes else PASSING) // 2 for name, (x, _) in at.items()) + MARGIN,
        height=max(y for _, y in at.values()) + ROW // 2 + LEGEND,
    )


def laid_out(drawn: Sequence[Link]) -> tuple[dict[str, tuple[int, int]], Ways]:
    """The middle of every name, those of passing lines too, and what each line that shapes the picture goes through."""
    rows, ways = layered(NAMES, [(link.upper, link.lower) for link in drawn if link.shapes])
    across = places(rows, steps(ways), {name: PASSING if PASSES in name else BOX + GAP for row in rows for name in row})
    down = {name: HEAD + ROW * n + ROW // 2 for n, row in enumerate(rows) for name in row}
    return {name: (across[name] + MARGIN, down[name]) for name in across}, ways


def box(name: str, x: int, y: int) -> Box:
    variant = find(name)
    family = next(n for n, modules in enumerate(FAMILIES) if any(module.VARIANT is variant for module in modules))
    return Box(name, variant.summary, family, textwrap.wrap(variant.title, LETTERS, break_on_hyphens=False), x, y)


def beside(entries: list[tuple[str, str]], symbol: int) -> list[tuple[int, str, str]]:
    """The entries of a legend side by side: where each begins, its key and its words."""
    starts = accumulate((symbol + 7 * len(words) + 26 for _, words in entries), initial=MARGIN)
    return [(start, *entry) for start, entry in zip(starts, entries, strict=False)]


@lru_cache(maxsize=1)
def template() -> Template:
    environment = Environment(
        loader=PackageLoader("linattn_tools"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals.update(colours=COLOURS, LIGHT=LIGHT, DARK=DARK)
    environment.globals.update(BOX=BOX, LINE=LINE, MARGIN=MARGIN, LEGEND=LEGEND)
    return environment.get_template("lattice.svg.j2")
