"""``linattn new-backend``: what it writes runs as it stands."""

import pytest
from commandline import run


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("name", ["my_backend.py", "folder/mine.py"])
def test_the_written_adapter_passes(capsys, tmp_path, name):
    (tmp_path / "folder").mkdir()
    assert run("new-backend", name) == 0
    assert capsys.readouterr().out == f"wrote {name}; judge it with: linattn check {name}\n"
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert text.startswith(
        f'"""An adapter: it tells the suite how to call an implementation. Judge it with: linattn check {name}"""'
    )
    assert run("check", name) == 0
    assert "simple_gla recurrent fp32: " in capsys.readouterr().out


def test_a_file_is_never_overwritten(capsys, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("precious")
    assert run("new-backend", path) == 2
    assert path.read_text() == "precious"
    assert capsys.readouterr().err == f"linattn: {path} exists already\n"


def test_a_folder_that_is_not_there(capsys):
    assert run("new-backend", "nowhere/mine.py") == 2
    error = capsys.readouterr().err
    assert error.startswith("linattn: ")
    assert "nowhere" in error
    assert error.count("\n") == 1
