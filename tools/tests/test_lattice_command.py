"""``linattn lattice``: every edge in words, and a picture in which every variant and every edge can be read."""

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commandline import ENVIRONMENT, python, run

from linattn import VARIANTS
from linattn.lattice import EDGES, LOOKALIKES, MEETINGS
from linattn.variants import FAMILIES
from linattn_tools.picture import svg
from linattn_tools.picture.colours import COLOURS, DARK, LIGHT

PICTURE = Path(__file__).parents[2] / "tools" / "pictures" / "lattice.svg"
NAMESPACE = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def text():
    return svg.render()


@pytest.fixture(scope="module")
def picture(text):
    return ElementTree.fromstring(text)


def groups(root, name):
    return [group for group in root.iter(f"{NAMESPACE}g") if name in group.attrib]


def said(root):
    """The ends of every line, and each sentence about them."""
    lines = groups(root, "data-upper")
    return {
        (frozenset((line.get("data-upper"), line.get("data-lower"))), sentence)
        for line in lines
        for sentence in line.findtext(f"{NAMESPACE}title").split("\n")
    }


def wanted(edges, verb="is"):
    return {(frozenset((edge.special, edge.general)), f"{edge.special} {verb} {edge}") for edge in edges}


def test_every_edge_in_words(capsys):
    assert run("lattice") == 0
    lines = capsys.readouterr().out.splitlines()
    assert {f"{edge.general} -> {edge.special}: {edge.restriction}" for edge in EDGES} <= set(lines)
    assert {f"{edge.special} = {edge}" for edge in MEETINGS} <= set(lines)
    assert len(lines) == len(EDGES) + len(MEETINGS) + 4
    assert lines[-1].startswith(f"{len(EDGES)} reductions, {len(MEETINGS)} meetings.")


def test_lookalikes_only_where_they_are_asked_for(capsys, tmp_path):
    assert run("lattice", "--lookalikes") == 0
    assert {f"{edge.special} ≠ {edge}" for edge in LOOKALIKES} <= set(capsys.readouterr().out.splitlines())
    assert run("lattice", "--lookalikes", "--svg", tmp_path / "lattice.svg") == 0
    root = ElementTree.parse(tmp_path / "lattice.svg").getroot()
    assert said(root) == wanted((*EDGES, *MEETINGS)) | wanted(LOOKALIKES, "is not")


def test_every_variant_and_every_edge_is_in_the_picture(picture):
    assert [group.get("id") for group in groups(picture, "id")] == [variant.name for variant in VARIANTS]
    assert said(picture) == wanted((*EDGES, *MEETINGS))


def test_the_upper_one_contains_the_lower_one(picture):
    """Where only one contains the other."""
    height = {group.get("id"): float(group.find(f"{NAMESPACE}rect").get("y")) for group in groups(picture, "id")}
    for edge in EDGES:
        if (edge.general, edge.special) not in {(other.special, other.general) for other in EDGES}:
            assert height[edge.general] < height[edge.special]


def test_boxes_stand_apart_on_the_page_and_hold_their_titles(picture):
    sides = ("x", "y", "width", "height")
    boxes = [[float(group.find(f"{NAMESPACE}rect").get(side)) for side in sides] for group in groups(picture, "id")]
    width, height = (float(picture.get(side)) for side in ("width", "height"))
    for (x, y, w, h), (a, b, c, d) in combinations(boxes, 2):
        assert x + w < a or a + c < x or y + h < b or b + d < y
    for x, y, w, h in boxes:
        assert 0 < x < x + w < width
        assert 0 < y < y + h < height
    for group, variant in zip(groups(picture, "id"), VARIANTS, strict=True):
        lines = [text.text for text in group.iter(f"{NAMESPACE}text")]
        assert " ".join(lines) == variant.title
        assert max(map(len, lines)) <= svg.LETTERS


def test_every_line_begins_and_ends_at_its_boxes(picture):
    boxes = {group.get("id"): group.find(f"{NAMESPACE}rect") for group in groups(picture, "id")}
    for line in groups(picture, "data-upper"):
        path = line.find(f"{NAMESPACE}path").get("d")
        start, stop = path[1:].split("C")[0].split(), path.split()[-2:]
        for (x, y), name, side in ((start, "data-upper", 1), (stop, "data-lower", 0)):
            left, top, width, height = (float(boxes[line.get(name)].get(n)) for n in ("x", "y", "width", "height"))
            assert left < float(x) < left + width
            assert float(y) == top + side * height


def brightness(colour):
    """Relative luminance as in WCAG 2.1."""
    parts = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted(map(brightness, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", COLOURS, ids=lambda colour: colour.words)
def test_words_and_lines_can_be_read_on_light_and_dark_pages(text, colour):
    """WCAG 2.1: 4.5 for text, 3 for graphics."""
    for ink, box, line, page in (
        ("#1d2430", colour.light_box, colour.light, LIGHT),
        ("#e8ecf2", colour.dark_box, colour.dark, DARK),
    ):
        assert ink in text
        assert contrast(ink, box) > 4.5
        assert contrast(line, page) > 3


def test_every_family_has_a_colour_of_its_own():
    assert len(COLOURS) == len(FAMILIES)
    for pick in ("words", "light", "dark"):
        assert len({getattr(colour, pick) for colour in COLOURS}) == len(COLOURS)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_picture_of_the_documents_is_that_of_today(tmp_path, seed):
    """The same bytes in every process: ``linattn lattice --svg tools/pictures/lattice.svg`` draws it anew."""
    done = python("-m", "linattn", "lattice", "--svg", tmp_path / "x.svg", env=ENVIRONMENT | {"PYTHONHASHSEED": seed})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.svg").read_bytes() == PICTURE.read_bytes()


def test_a_folder_that_is_not_there(capsys, tmp_path):
    assert run("lattice", "--svg", tmp_path / "nowhere" / "lattice.svg") == 2
    assert capsys.readouterr().err.startswith("linattn: ")
