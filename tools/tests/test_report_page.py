"""The page: well-formed, complete, of one piece, and readable by everyone."""

import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from handmade import EACH_SUBSET, result, run_of, some_of_each

from linattn.record import FORMS
from linattn_spec.results import STATUSES
from linattn_spec.verdict import LIMITS
from linattn_tools.report import html
from linattn_tools.report.matrix import reproduce

VOID = ("meta", "link", "br", "hr", "img", "input")  # tags of HTML that are never closed


class Page(HTMLParser):
    """Parses a page, insists that what is opened is closed, and collects the text under every tag and class."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append((tag, dict(attributes), []))

    def handle_endtag(self, tag):
        opened, attributes, texts = self.open.pop()
        assert opened == tag, f"</{tag}> closes <{opened}>"
        self.texts.append((tag, attributes.get("class", "").split(), "".join(texts).strip()))

    def handle_data(self, text):
        for _, _, texts in self.open:
            texts.append(text)

    def of(self, name):
        """The texts of a tag or a class, in the order of the page."""
        return [text for tag, classes, text in self.texts if name == tag or name in classes]


@EACH_SUBSET
def test_the_sentence_agrees_with_the_exit_code_and_names_every_count(statuses):
    run = some_of_each(statuses)
    sentence, judged = html.sentence(run), {"pass", "fail", "limit", "error", "known"} & set(statuses)
    assert ("could not be judged" in sentence) == (run.exit_code == 2)
    assert ("passes all" in sentence) == (judged == {"pass"})
    assert all(re.search(rf"\b{run.counts[status]}\b", sentence) for status in statuses)


def test_known_failures_that_are_not_true_stand_on_the_page_and_decide():
    run = replace(run_of(result("pass")), complaints=("<known>.toml, failure 2: expired",))
    page = Page(html.render(run))
    assert "1 known failure must be looked at" in page.of("verdict")[0]
    assert "✗" in page.of("verdict")[0]
    assert page.of("reason") == ["<known>.toml, failure 2: expired"]


@EACH_SUBSET
def test_the_page_is_well_formed_and_counts_as_the_run(statuses):
    run = some_of_each(statuses)
    page = Page(html.render(run))
    assert dict(zip(STATUSES, map(int, page.of("number")), strict=True)) == {s: run.counts[s] for s in STATUSES}
    shown = Counter()
    for text in page.of("matrix")[0].split("\n"):
        for count, status in re.findall(rf"(\d+) ({'|'.join(STATUSES)})\b", text):
            shown[status] += int(count)
        shown["pass"] += sum(map(int, re.findall(r"(\d+)(?: of \d+)? passed", text)))
    assert +shown == run.counts


def test_the_page_shows_reasons_as_they_are_and_how_to_see_each_failure_again():
    run = some_of_each()
    page = Page(html.render(run))
    failing = [r for r in run.results if r.status in ("fail", "error", "limit", "known")]
    assert not page.of("b")
    assert set(page.of("reason")) == {r.reason for r in failing}
    assert set(page.of("code")) == {reproduce(run, r) for r in failing}
    assert page.of("h1") == ["Acme <kernels> 0.0"]


def test_the_page_shows_headroom_of_cells_and_of_kinds():
    run = run_of(result("pass", kind="golden", load=0.25), result("fail", kind="split", load=math.inf))
    page = Page(html.render(run))
    loads = [" ".join(text.split()) for text in page.of("headroom")]
    assert loads == [f"{load} % of the limit" for load in ("> 999", "25", "> 999")]  # the cell, golden, split
    widths = [float(a["style"].strip("width: %")) for tag, a in page.tags if "style" in a]
    assert widths == [100, 25, 100]
    assert page.of("th").count("golden") == page.of("th").count("split") == 2  # a row, and a column of the details


def test_the_page_needs_no_other_file_and_no_scripts():
    text = html.render(some_of_each())
    page = Page(text)
    assert [a["href"] for _, a in page.tags if "href" in a] == ["data:,"]
    assert not [tag for tag, a in page.tags if tag == "script" or "src" in a or any(n.startswith("on") for n in a)]
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_explains_statuses_limits_and_forms_and_names_every_header_cell():
    page = Page(html.render(run_of(*(result("pass", ("kda", form, "fp32")) for form in FORMS))))
    text = "\n".join(page.of("body"))
    assert all(meaning in text for meaning in STATUSES.values())
    assert all(f"{limit:g} units" in page.of("td") for limit in LIMITS.values())
    assert all(html.FORMS[form] in text for form in FORMS)
    assert all(a.get("scope") in ("row", "col", "colgroup") for tag, a in page.tags if tag == "th")


def test_colours_have_the_contrast_that_wcag_asks_of_text():
    css = (Path(html.__file__).parent / "templates" / "report.css").read_text()
    schemes = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    assert len(schemes) == 2
    for scheme in schemes:
        colours = {
            n: [int(x[i : i + 2], 16) / 255 for i in (0, 2, 4)] for n, x in re.findall(r"--(\w+): #(\w+)", scheme)
        }
        for tone in ("ink", "quiet", "pass", "fail", "limit", "error"):
            for tint in ("paper", "fail", "error"):  # failing cells are tinted by 9 %
                ground = [0.91 * p + 0.09 * t for p, t in zip(colours["paper"], colours[tint], strict=True)]
                assert contrast(colours[tone], ground) >= 4.5, (tone, tint)
            assert contrast(colours[tone], colours["raised"]) >= 4.5, tone


def contrast(one, other):
    """The ratio of WCAG 2.2: relative luminances of sRGB colours, each raised by 0.05."""

    def luminance(colour):
        linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return high / low
