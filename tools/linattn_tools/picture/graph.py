"""What is drawn: every variant, and every pair of which one reduces to the other or meets it, once."""

from collections.abc import Iterable
from dataclasses import dataclass

from linattn.lattice import EDGES, LOOKALIKES, MEETINGS, Edge
from linattn.variants import VARIANTS

NAMES = tuple(variant.name for variant in VARIANTS)


@dataclass(frozen=True)
class Link:
    """``upper`` stands above ``lower``: it contains it, each contains the other, they meet, or only look alike."""

    upper: str
    lower: str
    kind: str  # "contains", "both", "meets" or "looks"
    sentences: tuple[str, ...]
    implied: bool = False  # by a chain of others

    @property
    def shapes(self) -> bool:
        """Whether it has a say in where the variants stand."""
        return self.kind != "looks" and not self.implied


def links(lookalikes: bool = False) -> list[Link]:
    """Those that give the variants their places first."""
    found: dict[tuple[str, str], list[Edge]] = {}
    for edge in EDGES:
        pair, back = (edge.general, edge.special), (edge.special, edge.general)
        found.setdefault(back if back in found else pair, []).append(edge)
    for edge in MEETINGS:  # where its inputs are restricted, the special end is the larger one
        pair, back = (edge.special, edge.general), (edge.general, edge.special)
        found.setdefault(back if back in found else pair, []).append(edge)
    drawn = [link(pair, edges) for pair, edges in found.items()]
    drawn = [with_implied(one, drawn) for one in drawn]
    return drawn + [looking_alike(edge) for edge in LOOKALIKES if lookalikes]


def link(pair: tuple[str, str], edges: list[Edge]) -> Link:
    upper, lower = pair
    full = {(edge.general, edge.special) for edge in edges if not edge.given}
    kind = "both" if len(full) == 2 else "contains" if full else "meets"
    return Link(upper, lower, kind, tuple(map(sentence, edges)))


def looking_alike(edge: Edge) -> Link:
    return Link(edge.general, edge.special, "looks", (f"{edge.special} is not {edge}",))


def sentence(edge: Edge) -> str:
    return f"{edge.special} is {edge}"


def with_implied(link: Link, others: Iterable[Link]) -> Link:
    """A variant that is contained in one that is contained in the upper one needs no line of its own."""
    if link.kind != "contains":
        return link
    below: dict[str, list[str]] = {}
    for other in others:
        if other.kind in ("contains", "both") and other != link:
            below.setdefault(other.upper, []).append(other.lower)
    reached, waiting = set(), [link.upper]
    while waiting:
        new = [name for name in below.get(waiting.pop(), ()) if name not in reached]
        reached |= set(new)
        waiting += new
    return Link(link.upper, link.lower, link.kind, link.sentences, link.lower in reached)
