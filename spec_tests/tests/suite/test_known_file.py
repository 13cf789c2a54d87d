"""Files of known failures: how they are read, what is refused, and where they are looked for."""

from datetime import date, datetime

import pytest
from known_entries import ENTRY, backend

from linattn_spec.known import FILE, OURS, Failure, default, known, read
from linattn_spec.loading import BUILT_IN
from linattn_spec.results import Check


def text_of(**changes):
    given = {**ENTRY, **changes}
    lines = [f'{name} = "{x}"' if isinstance(x, str) else f"{name} = {x}" for name, x in given.items() if x != "no"]
    return "\n".join(["[[failure]]", *lines, ""])


def test_a_file_is_read(tmp_path):
    path = tmp_path / "any.toml"
    path.write_text("# a comment\n" + text_of() + text_of(check="kda/*:*:*:*", expires=date(2030, 1, 31)))
    first, second = read(path)
    assert first == Failure(f"{path}, failure 1", **{**ENTRY, "check": Check.parse(ENTRY["check"])})
    assert (second.where, second.expires) == (f"{path}, failure 2", date(2030, 1, 31))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({name: "no"}, f"must have the field {name}; the fields are check, backend, seen") for name in ENTRY),
        *(({name: 7}, f"{name} must be a text; got 7") for name in ENTRY),
        *(({name: " "}, f"{name} must be a text; got ' '") for name in ENTRY),
        ({"until": "2"}, "has no field until; the fields are check"),
        ({"check": "gla/odd-dims"}, "check id must be VARIANT/SCENARIO:FORM:PROFILE:CHECK; got 'gla/odd-dims'"),
        ({"seen": "main"}, "seen must be a version such as 1.32.0; got 'main'"),
        ({"link": "http://example.org"}, "link must begin with https://; got 'http://example.org'"),
        ({"expires": "2030-01-31"}, "expires must be a date such as 2030-01-31, without quotes; got '2030-01-31'"),
        ({"expires": datetime(2030, 1, 31, 12)}, "expires must be a date such as"),
    ],
)
def test_a_malformed_entry_is_refused_by_its_number_and_field(tmp_path, changes, words):
    path = tmp_path / "any.toml"
    path.write_text(text_of() + text_of(**changes))
    with pytest.raises(ValueError, match=r"any\.toml, failure 2: ") as refused:
        read(path)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[failure]", "any.toml: must be TOML: "),
        ("[[failures]]\nreason = 'x'", "any.toml: must hold [[failure]] and nothing else; got ['failures']"),
        ("failure = ['gla']", "any.toml: must hold [[failure]] and nothing else; got ['gla']"),
        ("[failure]\nreason = 'x'", "any.toml: must hold [[failure]] and nothing else; got {'reason': 'x'}"),
    ],
)
def test_what_is_no_such_file_is_refused(tmp_path, text, words):
    (tmp_path / "any.toml").write_text(text)
    with pytest.raises(ValueError, match=r"any\.toml") as refused:
        read(tmp_path / "any.toml")
    assert words in str(refused.value)


@pytest.mark.parametrize("name", ["mylib", "kernels.py", "other", "Mylib"])
def test_entries_are_those_of_the_backend_by_its_name_or_that_of_its_file(tmp_path, name):
    (tmp_path / FILE).write_text(text_of(backend=name))
    found = known(str(tmp_path / "kernels.py"), backend()).failures
    assert len(found) == (name in ("mylib", "kernels.py"))


def test_where_a_file_is_looked_for(tmp_path):
    assert default(str(tmp_path / "kernels.py")) is None
    (tmp_path / FILE).touch()
    assert default(str(tmp_path / "kernels.py")) == tmp_path / FILE
    assert {default(name) for name in BUILT_IN} == {OURS}
    assert default("module:backend") is None


def test_the_example_of_our_file_is_an_entry(tmp_path):
    lines = OURS.read_text(encoding="utf-8").splitlines()
    start = lines.index("# [[failure]]")
    example = lines[start : lines.index("#", start)]
    (tmp_path / "example.toml").write_text("\n".join(line.removeprefix("# ") for line in example))
    (failure,) = read(tmp_path / "example.toml")
    assert failure.expires


def test_our_own_entries_name_built_in_backends_and_documented_links():
    assert {failure.backend for failure in read(OURS)} <= set(BUILT_IN)
