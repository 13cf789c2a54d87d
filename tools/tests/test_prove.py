"""``linattn prove``: it holds for every variant, and not for one that is wrong anywhere."""

import random
import re
from dataclasses import replace

import numpy as np
import pytest
from commandline import run
from drawing import EACH_VARIANT, WITH_BIDIRECTIONAL, each

from linattn import VARIANTS
from linattn import variant as find
from linattn.lattice import EDGES, LOOKALIKES, MEETINGS
from linattn_tools import identities, reductions
from linattn_tools.commands import prove

WITH_CLOSED_FORM = each(variant for variant in VARIANTS if variant.parallel)
OTHERWISE = (", as it must be", ", which must not be")  # how lines about lookalikes end


def verdicts(out):
    """The mark of every identity that was printed."""
    found = re.findall(r"^(\w+) +([=≠]) (.+)$", out, re.MULTILINE)
    return {(variant, identity): mark for variant, mark, identity in found if not identity.endswith(OTHERWISE)}


@pytest.fixture
def short(monkeypatch):
    """A few tokens suffice for what is wrong everywhere."""
    monkeypatch.setitem(identities.SIZES, "T", 6)


def statements(variant):
    return [*identities.of(variant), *reductions.of(variant)]


def test_everything_is_proven(capsys):
    """Every edge of the lattice with its special end, and no lookalike."""
    assert run("prove", "--points", 1) == 0
    out = capsys.readouterr().out
    marks = verdicts(out)
    assert marks.keys() == {(variant.name, i.name) for variant in VARIANTS for i in statements(variant)}
    assert set(marks.values()) == {"="}
    assert all((edge.special, f"{edge}{', in certified bytes' * (edge.proof == 'bytes')}") in marks for edge in EDGES)
    assert len(marks) == len(EDGES) + len(MEETINGS) + sum(len(list(identities.of(v))) for v in VARIANTS)
    assert re.findall(r"^(\w+ +≠ .+)$", out, re.MULTILINE) == [
        f"{variant.name:34} ≠ {edge}, as it must be"
        for variant in VARIANTS
        for edge in LOOKALIKES
        if edge.special == variant.name
    ]


@pytest.mark.parametrize(("edges", "code"), [("LOOKALIKES", 0), ("EDGES", 1)])
def test_a_lookalike_among_the_edges_is_seen(capsys, monkeypatch, edges, code):
    lookalike = next(edge for edge in LOOKALIKES if edge.special == "kda")
    monkeypatch.setattr(reductions, edges, (lookalike,))
    assert run("prove", "kda") == code
    assert f"≠ {lookalike}" in capsys.readouterr().out


def test_an_edge_among_the_lookalikes_is_seen(capsys, monkeypatch):
    edge = next(edge for edge in EDGES if edge.special == "kda")
    monkeypatch.setattr(reductions, "LOOKALIKES", (edge,))
    assert run("prove", "kda") == 1
    assert f"= {edge}, which must not be\n" in capsys.readouterr().out


def test_without_balls_the_edges_that_need_them_are_left_out(capsys, monkeypatch):
    monkeypatch.setattr(reductions, "CAN_CERTIFY", False)
    assert run("prove", "mlstm_sigmoid_normalised") == 0
    out = capsys.readouterr().out
    assert "left out: pip install 'linattn[certify]'" in out
    assert "= mlstm_sigmoid with" in out
    assert "= mlstm with" not in out


def test_only_what_is_named(capsys):
    assert run("prove", "kda", "retention") == 0
    assert list(dict.fromkeys(name for name, _ in verdicts(capsys.readouterr().out))) == ["kda", "retention"]


@EACH_VARIANT
def test_there_is_an_identity_for_every_form(variant):
    """Where there is one form alone, an edge of the lattice says what it is under a restriction."""
    names = [identity.name for identity in statements(variant)]
    assert len(set(names)) == len(names) > 0
    for form in variant.forms if variant.parallel else ():
        assert any(form in name for name in names)


def wrong_output(function):
    def wrong(*state, **inputs):
        state, output = function(*state, **inputs)
        return state, output + output

    return wrong


def wrong_state(function):
    """The last tensor of the state."""

    def wrong(*state, **inputs):
        (*state, last), output = function(*state, **inputs)
        return (*state, last + last), output

    return wrong


def forgetful(function):
    """As if there were no incoming state."""

    def wrong(*state, **inputs):
        return function(*(x - x for x in state), **inputs)

    return wrong


def late(function):
    """Every token sees the value of the one before."""

    def wrong(*state, **inputs):
        name = "v" if "v" in inputs else "x"
        return function(*state, **inputs | {name: np.roll(inputs[name], 1, axis=0)})

    return wrong


@WITH_CLOSED_FORM
@pytest.mark.parametrize("mistake", [wrong_output, wrong_state, forgetful, late])
def test_a_wrong_closed_form_is_seen(capsys, monkeypatch, short, variant, mistake):
    broken = replace(variant, parallel=mistake(variant.parallel))
    monkeypatch.setattr(prove, "VARIANTS", (broken,))
    assert run("prove", "--points", 1) == 1
    wrong = {name for (_, name), mark in verdicts(capsys.readouterr().out).items() if mark == "≠"}
    assert "recurrent = parallel" in wrong
    assert not any("bidirectional" in name for name in wrong)


@EACH_VARIANT
def test_a_wrong_step_is_seen(capsys, monkeypatch, short, variant):
    monkeypatch.setattr(prove, "VARIANTS", (replace(variant, step=wrong_output(variant.step)),))
    assert run("prove", "--points", 1) == 1
    marks = verdicts(capsys.readouterr().out)
    assert {name for (_, name), mark in marks.items() if mark == "≠"} == {
        name for _, name in marks if not name.startswith("bidirectional")
    }


@WITH_BIDIRECTIONAL
@pytest.mark.parametrize("route", [0, 1])
def test_a_wrong_bidirectional_route_is_seen(capsys, monkeypatch, variant, route):
    routes = list(variant.bidirectional)
    right = routes[route]
    routes[route] = lambda **inputs: right(**inputs | {"v": inputs["v"] + inputs["v"]})
    monkeypatch.setattr(prove, "VARIANTS", (replace(variant, bidirectional=tuple(routes)),))
    assert run("prove") == 1
    marks = verdicts(capsys.readouterr().out)
    assert [name for (_, name), mark in marks.items() if mark == "≠"] == ["bidirectional: two routes"]


def test_one_wrong_variant_among_others_is_enough(capsys, monkeypatch):
    first, second, *_ = VARIANTS
    monkeypatch.setattr(prove, "VARIANTS", (first, replace(second, parallel=wrong_state(second.parallel))))
    assert run("prove", "--points", 1) == 1
    out = capsys.readouterr().out
    assert {name for (name, _), mark in verdicts(out).items() if mark == "≠"} == {second.name}


def test_the_sequence_is_split_everywhere():
    """A closed form that is wrong for seven tokens alone: no other identity has such a piece."""
    variant = find("linear_attention")

    def wrong(S, **inputs):
        (S,), output = variant.parallel(S, **inputs)
        return (S + S if inputs["q"].shape[-2] == 7 else S,), output

    found = identities.of(replace(variant, parallel=wrong))
    assert [i.name for i in found if not i.holds(random.Random(0))] == ["one sequence = split at every token"]


def test_an_unknown_variant(capsys):
    assert run("prove", "kda", "cda") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("linattn: variant must be one of softmax_attention, ")
