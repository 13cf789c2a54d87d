"""The report: whatever a run holds stands in its place, on the terminal and on the page."""

import io
import math
import re
import shlex
from collections import Counter
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console

import linattn
from linattn.record import FORMS
from linattn_spec.results import STATUSES, Check, Result, Run
from linattn_spec.verdict import LIMITS
from linattn_tools.report import html, terminal
from linattn_tools.report.matrix import Cell, Column, failures, matrix, percent, reproduce, unsupported

ENVIRONMENT = {"backend": "my kernels.py", "title": "Acme <kernels>", "version": "0.3"}
SUBSETS = [subset for size in range(7) for subset in combinations(STATUSES, size)]
PLACES = {  # a cell of its own for every status
    "pass": ("linear_attention", "recurrent", "fp32"),
    "fail": ("gla", "chunkwise.fused", "fp32"),
    "limit": ("gla", "chunkwise.fused", "bf16"),
    "error": ("kda", "chunkwise", "fp32"),
    "unsupported": ("kda", "parallel", "fp32"),
    "not run": ("delta_rule", "recurrent", "fp32"),
}
VOID = ("meta", "link", "br", "hr", "img", "input")  # tags of HTML that are never closed


def result(status, place=("kda", "recurrent", "fp32"), scenario="one-token", kind="golden", reason="", load=None):
    variant, column, profile = place
    return Result(Check(variant, scenario, column, profile, kind), status, reason, load)


def run_of(*results):
    return Run(ENVIRONMENT, results)


def some_of_each(statuses=tuple(STATUSES)):
    """Two or more results of every status, each status in its own cell, with a different count."""
    return run_of(
        *(
            result(status, PLACES[status], f"case-{i}", reason=f"<b>{status}</b> & [red]{i}[/red]; case {i}")
            for count, status in enumerate(statuses, start=2)
            for i in range(count)
        )
    )


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


def printed(run, width=100):
    console = Console(file=io.StringIO(), width=width)
    terminal.print_matrix(run, console)
    return console.file.getvalue()


def test_every_status_stands_in_its_own_cell_and_nowhere_else():
    run = some_of_each()
    cells = {(v.name, c.name, c.profile): cell.counts for v, c, cell in matrix(run).planned}
    assert cells == {PLACES[status]: Counter({status: run.counts[status]}) for status in STATUSES}


def test_rows_are_the_variants_and_the_profiles_of_an_implementation_stay_together():
    orders = [("parallel", "fp32"), ("recurrent.b", "bf16"), ("recurrent.a", "bf16"), ("recurrent.b", "fp32")]
    whole = matrix(run_of(*(result("pass", ("kda", *column)) for column in orders)))
    assert [row.variant for row in whole.rows] == list(linattn.VARIANTS)
    b, a, parallel = whole.implementations
    assert (b, a, parallel) == (
        [Column("recurrent.b", "bf16"), Column("recurrent.b", "fp32")],
        [Column("recurrent.a", "bf16")],
        [Column("parallel", "fp32")],
    )


@pytest.mark.parametrize("statuses", SUBSETS)
def test_what_a_reader_sees_agrees_with_the_exit_code(statuses):
    run = some_of_each(statuses)
    judged = {"pass", "fail", "limit", "error"} & set(statuses)
    assert (Cell(run.results).status in ("pass", "limit")) == (run.exit_code == 0)
    assert ("could not be judged" in html.sentence(run)) == (run.exit_code == 2)
    assert ("passes all" in html.sentence(run)) == (judged == {"pass"})
    assert all(str(run.counts[status]) in html.sentence(run) for status in statuses if judged or status != "pass")


@pytest.mark.parametrize(
    ("results", "load"),
    [
        ([], None),
        ([("error", None), ("unsupported", None)], None),
        ([("pass", 0.2), ("pass", 0.7), ("error", None)], 0.7),
        ([("pass", 0.2), ("fail", 12.5)], 12.5),
        ([("pass", 0.2), ("fail", None)], math.inf),  # a wrong shape has no load
    ],
)
def test_the_worst_load_of_a_cell(results, load):
    assert Cell(tuple(result(status, load=load) for status, load in results)).load == load


def test_an_infinite_load_survives_the_log():
    logged = Result.from_json(result("fail", load=math.inf).to_json())
    assert Cell((logged,)).load == math.inf


@pytest.mark.parametrize(
    ("load", "text"),
    [(0, "0 %"), (0.314, "31 %"), (0.9999, "99 %"), (1.0, "100 %"), (1.0001, "101 %"), (math.inf, "> 999 %")],
)
def test_a_load_never_looks_to_lie_on_the_other_side_of_the_limit(load, text):
    assert percent(load) == text


def test_failures_that_begin_alike_are_one_group():
    places = [("kda", "recurrent", "fp32"), ("gla", "recurrent", "fp32"), ("kda", "recurrent", "bf16")]
    results = [result("error", place, case, reason=case) for place in places for case in ("a", "b")]
    first, second = failures(matrix(run_of(*results, result("fail", reason="wrong"))))
    assert (first.status, second.status) == ("fail", "error")
    assert (len(second.places), len(second.results), second.results[0].check.variant) == (3, 6, "gla")


def test_reasons_are_counted_without_what_is_particular_to_a_case():
    reasons = ("accepts K in (64, 128); the case has K=5", "accepts K in (64, 128); the case has K=7", "no state")
    run = run_of(*(result("unsupported", reason=reason) for reason in reasons), result("fail", reason="no state"))
    assert unsupported(run) == [("accepts K in (64, 128)", 2), ("no state", 1)]


def test_the_command_reaches_the_program_as_it_was():
    failing = result("fail")
    words = shlex.split(reproduce(run_of(failing), failing))
    assert words == ["linattn", "repro", failing.check.id, "--backend", "my kernels.py"]


@pytest.mark.parametrize("statuses", SUBSETS)
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
    failing = [r for r in run.results if r.status in ("fail", "error", "limit")]
    assert not page.of("b")
    assert set(page.of("reason")) == {r.reason for r in failing}
    assert set(page.of("code")) == {reproduce(run, r) for r in failing}
    assert page.of("h1") == ["Acme <kernels> 0.3"]


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
        colours = {n: [int(x[i : i + 2], 16) / 255 for i in (0, 2, 4)] for n, x in re.findall(r"--(\w+): #(\w+)", scheme)}
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
