"""``linattn golden generate`` and ``verify``: the stored bytes come out anew everywhere, and no others pass."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from commandline import run

import linattn_golden
from linattn_golden import safetensors
from linattn_tools.golden import generator

pytest.importorskip("flint")

STORED = linattn_golden.HERE
FILES = ["manifest.json", *sorted(f"data/{path.name}" for path in (STORED / "data").glob("*.safetensors"))]
MANIFEST = "manifest.json"
DATA = "data/simple_gla.safetensors"


def copied(folder):
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(STORED / name, folder / name)
    return folder


@pytest.fixture
def fixtures(tmp_path, monkeypatch):
    """A copy of the stored files, in their place."""
    monkeypatch.setattr(linattn_golden, "HERE", copied(tmp_path / "fixtures"))
    return tmp_path / "fixtures"


def test_every_byte_is_proven_anew(capsys, fixtures):
    counts = linattn_golden.manifest()["counts"]
    assert run("golden", "verify") == 0
    out, err = capsys.readouterr()
    assert out == f"every byte proven anew: {counts['certified']} certified cases, {counts['recipe']} recipes\n"
    assert err == ""


def one_bit(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def neighbour(path):
    """A value is the next float64: nobody sees it with the eye."""
    content, value = path.read_bytes(), safetensors.read(path)["long/output"][0, 0, 0, 0]
    old, new = (np.array(x, "<f8").tobytes() for x in (value, np.nextafter(value, np.inf)))
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))


def one_word(path):
    text = path.read_text()
    path.write_text(text.replace('"why": "one token', '"why": "a token', 1))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (MANIFEST, one_bit),
        (MANIFEST, one_word),
        (DATA, one_bit),
        (DATA, neighbour),
        (DATA, Path.unlink),
        (MANIFEST, Path.unlink),
    ],
)
def test_a_change_is_found_and_named(capsys, monkeypatch, fixtures, name, change):
    """What generation gives is shown above to be the stored bytes; a copy of them saves its time here."""
    monkeypatch.setattr(generator, "generate", lambda folder: copied(folder) and FILES)
    change(fixtures / name)
    assert run("golden", "verify") == 1
    assert capsys.readouterr().out == f"differs: {name}\n"
