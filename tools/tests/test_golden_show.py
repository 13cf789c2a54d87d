"""``linattn golden show``: every number of a case, exactly."""

import json
import re

import numpy as np
import pytest
from commandline import run
from drawing import EACH_VARIANT

import linattn_golden

CASES = list(linattn_golden.cases())


def members(case):
    """All arrays of a case by the names under which they are shown."""
    data, state = linattn_golden.load(case), linattn_golden.state_names(case)
    groups = {"inputs": data.inputs, "cotangents": data.cotangents, "gradients": data.gradients}
    for name in ("initial_state", "final_state"):
        groups[name] = dict(zip(state, getattr(data, name) or (), strict=False))
    shown = {f"{group}/{name}": np.asarray(x) for group, arrays in groups.items() for name, x in arrays.items()}
    return shown | {name: x for name in ("output", "bidirectional") if (x := getattr(data, name)) is not None}


def test_the_list_has_every_case(capsys):
    assert run("golden", "show") == 0
    for case, line in zip(CASES, capsys.readouterr().out.splitlines(), strict=True):
        sizes = [f"{name}={size}" for name, size in case.dims.items()]
        assert line.split() == [case.id, case.kind, *sizes, *case.why.split()]


@EACH_VARIANT
def test_the_list_of_a_variant(capsys, variant):
    assert run("golden", "show", variant.name) == 0
    ids = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert ids == [case.id for case in CASES if case.variant == variant.name]


@pytest.mark.parametrize("variant", [None, "kda"])
def test_the_list_as_json_is_that_of_the_manifest(capsys, variant):
    assert run(*filter(None, ("golden", "show", variant)), "--json") == 0
    entries = linattn_golden.manifest()["cases"]
    assert json.loads(capsys.readouterr().out) == [e for e in entries if variant in (None, e["variant"])]


@EACH_VARIANT
def test_json_gives_back_every_bit(capsys, variant):
    """Gates of -inf and 0, gradients and the bidirectional form among them; of a recipe, the inputs."""
    for case in linattn_golden.cases(variant.name):
        assert run("golden", "show", case.id, "--json") == 0
        shown = json.loads(capsys.readouterr().out)
        assert (shown["id"], shown["why"], shown["dims"]) == (case.id, case.why, case.dims)
        want = members(case)
        assert shown["arrays"].keys() == want.keys()
        for name, entry in shown["arrays"].items():
            got = np.array([float.fromhex(value) for value in entry["values"]]).reshape(entry["shape"])
            assert (got.shape, got.tobytes()) == (want[name].shape, want[name].astype(float).tobytes())


def test_the_page_of_a_case_has_every_array_with_all_digits(capsys):
    case = linattn_golden.case("kda/one-token")
    assert run("golden", "show", case.id) == 0
    head, *blocks = re.split(r"^(\S+) \((.*)\)$", capsys.readouterr().out, flags=re.MULTILINE)
    assert head == f"{case.id}: {case.why}\ncertified, proven: results at {case.precision['results']} bits\n\n"
    want = members(case)
    assert sorted(blocks[::3]) == sorted(want)
    for name, text in zip(blocks[::3], blocks[2::3], strict=True):
        assert [float(number) for number in re.findall(r"[^\s\[\]]+", text)] == want[name].ravel().tolist()


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("kda/nothing", "case must be one of kda/by-hand, kda/one-token, "),
        ("nothing/long", "case must be one of abc/..., alibi/..., "),
        ("nothing", "there is no case of 'nothing'"),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_is_not_there_is_refused(capsys, case, message, options):
    assert run("golden", "show", case, *options) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"linattn: {message}")
