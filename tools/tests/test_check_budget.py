"""``linattn check --budget``: what comes first, what is left out, and how to go on."""

import pytest
from commandline import called, write_adapter
from steering import LINEAR, ids

from linattn_spec import load
from linattn_spec.plan import most_telling_first, plan

pytestmark = pytest.mark.usefixtures("no_workers")


@pytest.mark.usefixtures("clock")
def test_a_budget_is_kept_and_the_run_goes_on_where_it_ended(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    planned = plan(load(str(path)))
    code, content, printed = check(path, "--budget", 7)
    assert code == 1
    assert ids(content) == [c.id for c in planned]
    reached = most_telling_first(planned)[:7]
    assert set(ids(content, "not run")) == {c.id for c in planned} - {c.id for c in reached}
    assert {r["reason"] for r in content["results"] if r["status"] == "not run"} == {"the budget was over"}
    assert "\ngo on with --resume\n" in printed.out
    before = called(path)
    code, content, printed = check(path, "--resume")
    assert (code, ids(content, "not run")) == (0, [])
    assert "go on with" not in printed.out
    whole = write_adapter(tmp_path / "whole.py")
    check(whole)
    assert 0 < before < called(path) == called(whole)


@pytest.mark.usefixtures("clock")
def test_a_budget_that_is_enough_changes_nothing_but_the_order(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    code, content, printed = check(path, *LINEAR, "--budget", 10000)
    assert (code, ids(content, "not run")) == (0, [])
    lines = [line for line in printed.out.splitlines() if line.startswith("linear_attention ")]
    assert len(lines) == 2  # one for every function and profile
    assert all(line.endswith(" passed") for line in lines)


@pytest.mark.parametrize("budget", ["0", "-1", "soon"])
def test_a_budget_is_a_number_of_seconds(check, tmp_path, budget):
    assert check(write_adapter(tmp_path / "adapter.py"), "--budget", budget)[0] == 2
