"""The lattice of variants: which one is another one under a restriction.

An edge says that the special variant is the general one with a restriction, exactly: its inputs and state become
those of the general one, whose results become its own. ``MEETINGS`` are edges of which the special end is restricted
as well. ``LOOKALIKES`` are restrictions that are often taken for an edge, and are none.
"""

from linattn.lattice import (
    around,
    delta_rules,
    exclusive,
    foundation,
    levels,
    outer_products,
    regression,
    rotations,
    scans,
    softmax,
    softmax_over_time,
    stabilised,
)
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
    "MEETINGS",
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

FILES = (
    foundation,
    outer_products,
    exclusive,
    rotations,
    delta_rules,
    scans,
    stabilised,
    softmax_over_time,
    regression,
    levels,
    softmax,
    around,
)
EDGES: tuple[Edge, ...] = tuple(edge for file in FILES for edge in file.EDGES)
MEETINGS: tuple[Edge, ...] = tuple(edge for file in FILES for edge in getattr(file, "MEETINGS", ()))
LOOKALIKES: tuple[Edge, ...] = tuple(edge for file in FILES for edge in file.LOOKALIKES)
