"""How a picture in layers comes about: heights, orders and places, on graphs of which the best picture is known."""

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linattn_tools.picture import layers
from linattn_tools.picture.layers import PASSES, WIDEST, layered, steps
from linattn_tools.picture.order import crossings, neighbours
from linattn_tools.picture.places import never_falling, places


@pytest.fixture(autouse=True, scope="module")
def few_tries():
    """What holds for one holds for the best of a hundred."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "TRIES", 3)
        yield


def drawn(names, pairs):
    rows, ways = layered(names, pairs)
    return rows, steps(ways)


@st.composite
def graphs(draw):
    names = [f"n{n}" for n in range(draw(st.integers(1, 25)))]
    places = st.integers(0, len(names) - 1)
    pairs = draw(st.lists(st.tuples(places, places), max_size=40))
    return names, sorted({(names[min(pair)], names[max(pair)]) for pair in pairs if pair[0] != pair[1]})


@given(graphs())
def test_every_line_goes_down_layer_by_layer(graph):
    names, pairs = graph
    rows, ways = layered(names, pairs)
    height = {name: n for n, row in enumerate(rows) for name in row}
    assert sorted(name for name in height if PASSES not in name) == sorted(names)
    assert all(sum(PASSES not in name for name in row) <= WIDEST for row in rows)
    for pair, way in ways.items():
        assert (way[0], way[-1]) == pair
        assert [height[x] for x in way] == list(range(height[way[0]], height[way[-1]] + 1))


@given(graphs())
def test_nothing_overlaps_and_nothing_leaves_the_page(graph):
    rows, pieces = drawn(*graph)
    width = {name: 10 if PASSES in name else 50 for row in rows for name in row}
    x = places(rows, pieces, width)
    widest = max(sum(width[name] for name in row) for row in rows)
    for row in rows:
        assert all(x[b] - x[a] >= (width[a] + width[b]) / 2 - 1 for a, b in pairwise(row))  # to a rounding
        assert width[row[0]] / 2 - 1 <= x[row[0]]
        assert x[row[-1]] <= widest - width[row[-1]] / 2 + 1


@pytest.mark.parametrize("seed", range(5))
def test_what_can_be_drawn_without_crossings_is(seed):
    """A tree of three generations, in any order."""
    pairs = [("root", f"{a}") for a in "abc"] + [(f"{a}", f"{a}{b}") for a in "abc" for b in "123"]
    names = sorted({name for pair in pairs for name in pair})
    random.Random(seed).shuffle(names)
    rows, pieces = drawn(names, pairs)
    assert crossings(rows, neighbours(pieces)[1]) == 0


def test_crossings_are_counted():
    below = {"a": ["c", "d"], "b": ["c", "d"]}
    assert crossings([["a", "b"], ["c", "d"]], below) == 1
    assert crossings([["a", "b"], ["c", "d"]], {"a": ["d"], "b": ["c"]}) == 1
    assert crossings([["a", "b"], ["c", "d"]], {"a": ["c"], "b": ["d"]}) == 0


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 4)), min_size=1, max_size=6), st.integers(0, 5))
def test_the_nearest_sequence_that_never_falls(points, seed):
    """No other one that never falls is nearer."""
    values, weights = zip(*points, strict=True)
    found = never_falling(values, weights)

    def distance(sequence):
        return sum(w * (a - b) ** 2 for a, b, w in zip(sequence, values, weights, strict=True))

    assert all(a <= b + 1e-12 for a, b in pairwise(found))
    rng = random.Random(seed)
    for _ in range(20):
        other = sorted(x + rng.uniform(-2, 2) for x in found)
        assert distance(found) <= distance(other) + 1e-9
