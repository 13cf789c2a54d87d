"""``linattn check`` with known failures: what a run and its reports make of the entries, and of wrong ones."""

from datetime import date, timedelta

import pytest
from commandline import called, write_adapter
from steering import LINEAR, WRONG, ids

GOLDEN = "linear_attention/*:*:fp32:golden"
pytestmark = pytest.mark.usefixtures("no_workers")


def entry(check, seen="1.2", **more):
    fields = {"check": check, "backend": "Hand <made>", "seen": seen, "reason": "half is missing", **more}
    lines = [f"{name} = {x}" if isinstance(x, date) else f'{name} = "{x}"' for name, x in fields.items()]
    return "\n".join(["[[failure]]", *lines, 'link = "https://example.org/7"', ""])


def test_known_failures_beside_the_backend_make_a_run_right(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    (tmp_path / "known_failures.toml").write_text(entry(GOLDEN) + entry("normalised_linear_attention/*:*:*:golden"))
    code, content, printed = check(path, *LINEAR)
    assert code == 0
    failing = ids(content, "known")
    assert failing
    assert all(name.endswith(":golden") for name in failing)
    assert content["known_failures"] == []
    assert f"0 failed, 0 limit, 0 error, {len(failing)} known" in printed.out
    assert "FAIL" not in printed.out
    assert printed.out.count(f" passed, {len(failing) // 2} known\n") == 2  # as many in both functions
    page = (tmp_path / "all.html").read_text()
    assert f"{len(failing)} fail as is known" in page
    assert "half is missing, https://example.org/7" in page


def test_the_log_has_what_was_seen_and_known_failures_did_not_fail_last(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WRONG)
    (tmp_path / "mine.toml").write_text(entry(GOLDEN))
    _, content, _ = check(path, *LINEAR, "--known", "mine.toml")
    code, _, printed = check(path, "--last-failed", "--known", "mine.toml")
    assert (code, "nothing of what is selected failed" in printed.err) == (2, True)
    code, again, _ = check(path, "--last-failed")  # without the file, they did
    assert (code, ids(again, "fail")) == (1, ids(content, "known"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (entry("linear_attention/odd-dims:recurrent:fp32:golden"), "fails with {path} 1.2; remove the entry"),
        (entry("linear_attention/odd-dim:recurrent:fp32:golden"), "; correct the pattern, or remove the entry"),
        (
            entry("linear_attention/odd-dims:recurrent:fp32:golden", expires=date.today() - timedelta(days=2)),
            "see whether https://example.org/7 is solved, and remove it or date it anew",
        ),
    ],
)
def test_an_entry_that_is_not_true_is_an_error(check, tmp_path, text, words):
    path = write_adapter(tmp_path / "adapter.py")
    (tmp_path / "known_failures.toml").write_text(text)
    code, content, printed = check(path, *LINEAR)
    assert (code, content["exit_code"]) == (1, 1)
    assert ids(content, "fail", "error", "known") == []
    (complaint,) = content["known_failures"]
    assert complaint.startswith(f"{tmp_path / 'known_failures.toml'}, failure 1: ")
    assert words.format(path=path) in complaint
    assert f"KNOWN FAILURES {complaint}\n" in printed.out
    assert words.format(path=path) in (tmp_path / "all.html").read_text()
    assert check(path, "--variant", "normalised_linear_attention")[0] == 0  # which has no part of it


@pytest.mark.usefixtures("clock")
def test_what_the_budget_left_out_is_not_held_against_an_entry(check, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    (tmp_path / "known_failures.toml").write_text(entry(GOLDEN))
    assert check(path, "--budget", 7)[1]["known_failures"] == []
    assert len(check(path, "--resume", "--level", "full", *LINEAR)[1]["known_failures"]) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [(entry("gla"), "mine.toml, failure 1: check id must be VARIANT/"), ("[", "mine.toml: must be TOML: "), (None, "")],
)
def test_a_file_that_is_wrong_is_refused_before_anything_runs(check, tmp_path, text, words):
    path = write_adapter(tmp_path / "adapter.py")
    if text:
        (tmp_path / "mine.toml").write_text(text)
    code, _, printed = check(path, "--known", "mine.toml")
    assert (code, called(path), printed.out) == (2, 0, "")
    assert "mine.toml" in printed.err
    assert words in printed.err
