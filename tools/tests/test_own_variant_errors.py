"""What is wrong with a file is said before anything is judged: which file, what is there, what is expected."""

import os
from pathlib import Path

import pytest
from commandline import python, run
from own_variant import FILE, write_variant

import linattn
import linattn_golden
from linattn import own
from linattn_spec import drawn
from linattn_tools import identities

RECORD = "VARIANT = Variant("
POLE = '            "log_pole",\n'


@pytest.fixture(autouse=True)
def no_others(monkeypatch):
    monkeypatch.setenv(own.FILES, "")
    monkeypatch.setenv(linattn_golden.FOLDERS, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((RECORD, "OTHER = Variant("), "VARIANT must be a linattn.Variant; got None"),
        ((RECORD, "VARIANT = dict("), "VARIANT must be a linattn.Variant; got dict"),
        (('name="filtered_gla"', 'name="gla"'), "the name 'gla' is taken; give your variant another"),
        (
            ('name="filtered_gla"', 'name="my/gla"'),
            "name must be letters, digits and _, as in my_variant; got 'my/gla'",
        ),
        (("    step=step,\n", ""), "TypeError: Variant.__init__() missing 1 required positional argument: 'step'"),
        (("def step(S, m, q, k, v, log_decay,", "def step(S, m, q, k, v, g,"), "it lacks log_decay and asks for g"),
        (("def parallel(S, m, q,", "def parallel(q, S, m,"), "it takes them in another order"),
        ((POLE, '            "F",\n'), "an input must not be called F: an axis or an argument has that name"),
        ((POLE, '            "seed",\n'), "an input must not be called seed: an axis or an argument has that name"),
        (('            heads="v",\n', ""), 'log_pole with axes \'F\' must have heads="q", "k" or "v"; got \'none\''),
        (('"F V"', '"V F"'), "step was called with arrays shaped as the record says"),
        (("return (S, m), scale", "return S, scale"), "step must return ((S, m), output), a tuple in a tuple"),
        (("scale * read(q, S)", "scale * q"), "output that step returns must have shape (3,); got (4,)"),
        (('typical="mild"', 'typical="wild"'), "typical of log_pole must be one of bell, "),
        (("def step(", "def step(("), "SyntaxError: "),
        ((RECORD, f"raise KeyError('x')\n{RECORD}"), ", line {line}: KeyError: 'x'"),
        (("outer(k, u)", "outr(k, u)"), ", line {line}: NameError: name 'outr' is not defined"),
    ],
)
def test_what_is_wrong_in_a_file(capsys, change, message):
    text = Path(write_variant("mine.py", change)).read_text()
    line = text[: text.index(change[1])].count("\n") + 1
    capsys.readouterr()
    assert run("prove", "mine.py") == run("check", "numpy", "--variant", "mine.py") == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == second
    assert first.startswith("linattn: ")
    assert "mine.py" in first
    assert message.format(line=line) in first


@pytest.mark.parametrize("words", [("explain",), ("prove",), ("mutants", "--variant"), ("check", "numpy", "--variant")])
def test_no_such_file(capsys, words):
    assert run(*words, "nowhere.py") == 2
    assert capsys.readouterr().err == "linattn: variant nowhere.py: no such file\n"


def test_a_file_is_kept_and_must_be_of_python(capsys):
    Path(FILE).write_text("precious")
    assert run("new-variant", FILE) == run("new-variant", "mine.txt") == 2
    assert Path(FILE).read_text() == "precious"
    assert capsys.readouterr().err.splitlines() == [
        f"linattn: {FILE} exists already",
        "linattn: a file with a variant must end in .py; got mine.txt",
    ]


def test_two_files_of_one_name(monkeypatch):
    write_variant("one.py")
    write_variant("two.py")
    monkeypatch.setenv(own.FILES, os.pathsep.join(["one.py", "two.py"]))
    with pytest.raises(ValueError, match=r"two.py: the name 'filtered_gla' is taken; give your variant another$"):
        linattn.variant("filtered_gla")


def test_ours_need_no_other_files(monkeypatch):
    monkeypatch.setenv(own.FILES, "nowhere.py")
    assert linattn.variant("gla").name == "gla"
    with pytest.raises(ValueError, match=r"^variant nowhere.py: no such file$"):
        linattn.variant("other_gla")


def test_a_file_that_has_changed_is_read_again():
    write_variant(FILE)
    before = linattn.variant(FILE)
    assert linattn.variant(FILE) is before
    Path(FILE).write_text(Path(FILE).read_text().replace("filtered_gla", "another"))
    os.utime(FILE, ns=(1, 1))
    assert linattn.variant(FILE).name == "another"


def test_golden_values_of_ones_own_have_a_place_of_their_own(capsys):
    write_variant(FILE)
    capsys.readouterr()
    assert run("golden", "generate", "--variant", FILE) == 2
    assert (
        capsys.readouterr().err == "linattn: --variant needs --out DIR: in place are the values of our variants alone\n"
    )


def test_what_is_not_installed_is_named():
    """Without balls there are no golden values, but there are proofs."""
    write_variant(FILE)
    without = (
        "import sys; sys.modules['flint'] = None; from linattn_tools.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    assert python("-c", without, "prove", FILE, "--points", 1).returncode == 0
    judged = python("-c", without, "check", "numpy", "--variant", FILE)
    assert judged.returncode == 2
    assert judged.stderr == "linattn: flint is not installed; pip install 'linattn[certify]'\n"


def test_axes_of_ones_own_are_unlike_all_others():
    write_variant(FILE, ('"F"', '"F G"'), ('"F V"', '"F V"'))
    sizes = drawn.all_sizes(own.load(FILE, taken=()), identities.SIZES)
    assert sizes["F"] != sizes["G"]
    assert not {sizes["F"], sizes["G"]} & set(identities.SIZES.values())
