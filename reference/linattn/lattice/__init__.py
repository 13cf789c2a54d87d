"""The lattice of variants: which one is another one under a restriction.

An edge says that the special variant is the general one with a restriction, exactly: its inputs and state become
those of the general one, whose results become its own. ``LOOKALIKES`` are restrictions that are often taken for such
an edge, and are none.
"""

from linattn.lattice import delta_rules, foundation, outer_products, softmax
from linattn.lattice.edge import (
    Edge,
    adding,
    for_every_channel,
    for_every_token,
    over_the_ones,
    per_head,
    per_token,
    split_ones,
    with_ones,
)

__all__ = [
    "EDGES",
    "LOOKALIKES",
    "Edge",
    "adding",
    "for_every_channel",
    "for_every_token",
    "over_the_ones",
    "per_head",
    "per_token",
    "split_ones",
    "with_ones",
]

FAMILIES = (foundation, outer_products, delta_rules, softmax)
EDGES: tuple[Edge, ...] = tuple(edge for family in FAMILIES for edge in family.EDGES)
LOOKALIKES: tuple[Edge, ...] = tuple(edge for family in FAMILIES for edge in family.LOOKALIKES)
