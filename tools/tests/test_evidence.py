"""EVIDENCE.md says something of every variant, and what it says of proofs is what is proven."""

import re
from pathlib import Path

import pytest

from linattn import VARIANTS
from linattn.lattice import EDGES, MEETINGS
from linattn.record import Variant

COLUMNS = 4
LINES = (Path(__file__).parents[2] / "EVIDENCE.md").read_text().splitlines()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES if line.startswith("| ")][1:]
ORDINARY = Variant.__dataclass_fields__["exact"].default


def proven(variant: Variant) -> str:
    """The last cell of the variant's row."""
    forms = "recurrent = parallel = chunkwise" if variant.parallel else "one form"
    if variant.bidirectional:
        forms += ", bidirectional by two routes"
    if variant.parallel and variant.exact != ORDINARY:
        forms += f": {variant.exact}"
    edges = sum(variant.name in (edge.special, edge.general) for edge in (*EDGES, *MEETINGS))
    return f"{forms}; {edges} edge{'s' * (edges != 1)}"


def test_every_variant_has_a_row_in_the_order_of_the_catalogue():
    assert [row[0] for row in ROWS] == [variant.name for variant in VARIANTS]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_every_row_is_complete(row):
    assert len(row) == COLUMNS
    assert all(row)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_the_last_column_is_what_is_proven(variant):
    assert {row[0]: row[-1] for row in ROWS}[variant.name] == proven(variant)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_every_paper_that_is_cited_is_in_the_row(variant):
    """With what was read of it. The row may name more: where a text was found that the record does not need."""
    row = next(row for row in ROWS if row[0] == variant.name)
    if row[1] != "…":
        cited = {source.arxiv for source in variant.sources if source.arxiv}
        assert cited <= set(re.findall(r"\d{4}\.\d{4,5}", row[1]))
