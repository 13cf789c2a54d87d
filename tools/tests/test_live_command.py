"""``linattn check --live`` and ``linattn repro`` of what it finds."""

import json
import re

import pytest
from commandline import run, write_adapter

FAULT = (
    "    if q.ndim != 4:",
    "    scale = scale * (1 + (q.shape[-1] % 4 == 3))\n    if q.ndim != 4:",
)  # no golden case of level smoke sees it
FOUND = "linear_attention/drawn(B=1,T=1,Hq=1,Hk=1,Hv=1,K=3,V=1):recurrent:fp32:golden"
LIVE = "linear_attention/live(seed=0,examples=60):recurrent:fp32:live"
SELECTED = ("--variant", "linear_attention", "--form", "recurrent", "--level", "smoke")


@pytest.fixture
def broken(tmp_path):
    return write_adapter(tmp_path / "adapter.py", FAULT)


def test_check_draws_cases_and_says_how_to_see_the_smallest(broken, capsys, no_workers):
    assert run("check", broken, *SELECTED, "--live", 60, "--json", "report.json") == 1
    out = capsys.readouterr().out
    assert f"FAIL {LIVE} {FOUND}: output is off by " in out
    assert f"linattn repro '{FOUND}' --backend {broken}\n" in out
    results = {entry["id"]: entry for entry in json.loads((broken.parent / "report.json").read_text())["results"]}
    assert results[LIVE]["status"] == "fail"
    assert all(entry["status"] == "pass" for name, entry in results.items() if name != LIVE)


def test_repro_of_a_live_check_shows_its_smallest_case(broken, capsys):
    assert run("repro", LIVE, "--backend", broken) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{LIVE}: fail\n{FOUND}: ")
    assert f"\n{FOUND}: fail\noutput is off by " in out
    assert re.search(r"^output: first wrong at \[0, 0, 0, 0\]: got (\S+), want (\S+), ", out, re.MULTILINE)


def test_repro_of_a_drawn_case(broken, capsys):
    assert run("repro", FOUND, "--backend", broken) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"{FOUND}: fail\n")
    assert f'"""{FOUND}"""' in out
    assert run("repro", FOUND.replace("K=3", "K=4"), "--backend", broken) == 0


def test_without_live_nothing_is_drawn(tmp_path, no_workers):
    path = write_adapter(tmp_path / "adapter.py")
    assert run("check", path, *SELECTED, "--json", "report.json") == 0
    assert not any("live" in entry["id"] for entry in json.loads((tmp_path / "report.json").read_text())["results"])


def test_what_is_right_passes_and_another_seed_draws_other_cases(tmp_path, capsys, no_workers):
    path = write_adapter(tmp_path / "adapter.py")
    assert run("check", path, *SELECTED, "--live", 10, "--seed", 3, "--json", "report.json") == 0
    (live,) = (
        entry
        for entry in json.loads((tmp_path / "report.json").read_text())["results"]
        if "live(seed=3,examples=10)" in entry["id"]
    )
    assert live["status"] == "pass"
    assert run("repro", live["id"], "--backend", path) == 0


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (LIVE.replace("examples=60", "200"), "the scenario of a live check must read live(seed=0,examples=50); got "),
        (FOUND.replace("T=1", "T=0"), "T must be a whole number, at least 1; got '0'"),
        (
            FOUND.replace(",V=1", ",V=1,beta=one"),
            "drawn(B=1,T=1,Hq=1,Hk=1,Hv=1,K=3,V=1,beta=one): linear_attention has",
        ),
    ],
)
def test_an_id_of_nothing(broken, capsys, check, message):
    assert run("repro", check, "--backend", broken) == 2
    assert capsys.readouterr().err.startswith(f"linattn: {message}")
