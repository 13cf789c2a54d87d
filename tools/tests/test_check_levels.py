"""``linattn check --level``: what is planned, and what the report says of it."""

import pytest
from commandline import write_adapter
from steering import LINEAR, WRONG, ids

from linattn_spec import load
from linattn_spec.plan import Selection, plan

pytestmark = pytest.mark.usefixtures("no_workers")


@pytest.mark.parametrize("words", [("--level", "smoke"), ("--level", "core"), ()])
def test_the_level_says_what_is_planned_and_stands_in_the_report(check, tmp_path, words):
    path = write_adapter(tmp_path / "adapter.py")
    code, content, _ = check(path, *LINEAR, *words)
    level = words[1] if words else "core"
    assert code == 0
    assert ids(content) == [c.id for c in plan(load(str(path)), Selection(("linear_attention",), level=level))]
    assert content["environment"]["level"] == level
    assert f"<dd>{level}</dd>" in (tmp_path / "all.html").read_text()


def test_level_smoke_sees_a_wrong_implementation(check, tmp_path):
    code, content, _ = check(write_adapter(tmp_path / "adapter.py", WRONG), "--level", "smoke")
    assert code == 1
    assert {result["status"] for result in content["results"]} == {"fail"}


def test_an_unknown_level_is_refused(check, tmp_path):
    code, _, printed = check(write_adapter(tmp_path / "adapter.py"), "--level", "quick")
    assert code == 2
    assert printed.err == "linattn: level must be one of smoke, core, full; got 'quick'\n"
