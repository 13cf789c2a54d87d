"""``linattn list`` and ``linattn explain``: everything that a record holds is shown."""

import dataclasses
import inspect
import json
import math

import pytest
from commandline import run
from drawing import EACH_VARIANT

import linattn
from linattn import VARIANTS
from linattn.record import Variant


def no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def listed(capsys):
    assert run("list", "--json") == 0
    return json.loads(capsys.readouterr().out, parse_constant=no_constant)


def test_list_names_every_variant_with_its_forms_inputs_and_state(capsys):
    assert run("list") == 0
    *entries, last = capsys.readouterr().out.split("\n\n")
    assert last.strip().startswith(f"{len(VARIANTS)} variants.")
    for variant, entry in zip(VARIANTS, entries, strict=True):
        assert entry.split()[0] == variant.name
        assert f"forms: {' '.join(variant.forms)}\n" in entry
        assert f"inputs: {' '.join(item.name for item in variant.inputs)};" in entry
        assert all(f"{item.name} ({item.axes})" in entry for item in variant.state)
        assert variant.summary in entry
        assert variant.sources[0].arxiv in entry


def test_json_has_every_record_whole_but_for_its_functions(capsys):
    """A field that is added to the record must be added here, too."""
    functions = {"step", "parallel", "bidirectional"}
    names = {field.name for field in dataclasses.fields(Variant)} - functions | {"forms"}
    entries = listed(capsys)
    assert [entry["name"] for entry in entries] == [variant.name for variant in VARIANTS]
    assert all(entry.keys() == names for entry in entries)


def plain(item):
    """JSON has no infinity: the logarithm of zero is text."""
    return {name: "-inf" if value == -math.inf else value for name, value in dataclasses.asdict(item).items()}


@EACH_VARIANT
def test_json_says_what_the_record_says(capsys, variant):
    entry = next(entry for entry in listed(capsys) if entry["name"] == variant.name)
    for name in ("title", "summary", "output", "read", "erase", "mixing", "sizes", "exact", "aliases", "used_by"):
        assert entry[name] == getattr(variant, name)
    for name in ("forms", "constraints", "exempt"):
        assert entry[name] == list(getattr(variant, name))
    assert entry["linear"] == list(variant.linear_in)
    for name in ("state", "sources"):
        assert entry[name] == [plain(item) for item in getattr(variant, name)]
    for item, got in zip(variant.inputs, entry["inputs"], strict=True):
        assert got == plain(item) | {"domain": got["domain"]}
        ends = [None if math.isinf(end) else end for end in item.domain] if item.domain else None
        assert got["domain"] == ends


def test_an_infinite_end_of_a_domain_is_null(capsys):
    decays = [item for entry in listed(capsys) for item in entry["inputs"] if item["name"] == "log_decay"]
    assert len(decays) == sum(variant.has("log_decay") for variant in VARIANTS) > 0
    assert all(item["domain"] == [None, 0] for item in decays)


def lines_of(capsys, name):
    assert run("explain", name) == 0
    text = capsys.readouterr().out
    return text, [" ".join(line.split()) for line in text.splitlines()]


@EACH_VARIANT
def test_explain_has_equations_inputs_state_constraints_and_sources(capsys, variant):
    text, lines = lines_of(capsys, variant.name)
    assert ".. math::" in text
    for item in variant.inputs:
        shape = f"(..., {', '.join(item.axes.split())})" if item.axes else "one number"
        (line,) = (line for line in lines if line.startswith(f"{item.name} {shape} "))
        assert item.doc in line
        assert item.domain is None or item.limits in line
        assert item.default is None or f"default {item.default}" in line
        assert item.neutral is None or f"neutral {item.neutral:g}" in line
    for item in variant.state:
        assert f"{item.name} (..., {', '.join(item.axes.split())}) {item.doc}" in lines
    assert set(variant.constraints) <= {line.strip() for line in text.splitlines()}
    for source in variant.sources:
        assert all(
            str(part) in text for part in (source.title, source.authors, source.year, source.arxiv, source.where)
        )
    assert all(f"{library}: {name}" in lines for library, name in variant.aliases.items())
    used_by = [f"{model}: {where}" for model, where in variant.used_by.items()]
    after = lines[lines.index("Used by") + 1 : lines.index("", lines.index("Used by"))]
    assert after == (used_by or ["no released model that this project knows of"])
    assert f"the read is {variant.read}" in text
    assert variant.erase is None or f"the erase term reads the {variant.erase} state" in text


@EACH_VARIANT
def test_explain_shows_the_code_that_runs(capsys, variant):
    text, _ = lines_of(capsys, variant.name)
    assert inspect.getsource(variant.step) in text
    assert variant.parallel is None or inspect.getsource(variant.parallel) in text


@pytest.mark.parametrize("name", ["gated_delta", "KDA", ""])
def test_an_unknown_variant_is_refused_with_the_names_there_are(capsys, name):
    assert run("explain", name) == 2
    error = capsys.readouterr().err
    assert error.startswith("linattn: variant must be one of ")
    assert all(variant.name in error for variant in linattn.VARIANTS)
    assert repr(name) in error
