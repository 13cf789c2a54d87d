"""``linattn repro``: one check again, what is said of it, and the exit code."""

import re

import pytest
from commandline import run, write_adapter

import linattn_golden
from linattn_spec.backend import CLAIMS
from linattn_spec.checks import CHECKS
from linattn_spec.laws.gradients import LOSSES

CASE = "linear_attention/odd-dims:recurrent:fp32"
RETURNED = "q, S), S[:, -1]"  # by the function ``linear``
OF_OTHERS = ("chunk_size", "packing", "agreement", "reduction", *LOSSES)  # it takes no such argument, has one function
BODY = "    if q.ndim != 4:"  # where it begins


def repro(capsys, path, check):
    """The exit code and what is printed."""
    code = run("repro", check, "--backend", path)
    out, err = capsys.readouterr()
    assert err == ""
    return code, out


@pytest.mark.parametrize("law", [law for law in CHECKS if law not in OF_OTHERS])
def test_green(capsys, tmp_path, law):
    code, out = repro(capsys, write_adapter(tmp_path / "adapter.py"), f"{CASE}:{law}")
    assert code == 0
    assert out.startswith(f"{CASE}:{law}: {'noted' if law in CLAIMS else 'pass'}\n")
    refused = law in ("empty", "shapes", "states")  # there is nothing to compare
    assert ("output: largest error, within the limit of an element, at [" in out) != refused
    assert "first wrong" not in out


def test_the_script_is_printed_and_written_beside_its_arrays(capsys, tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    assert run("repro", f"{CASE}:golden", "--backend", path, "--out", "new/folder") == 0
    out = capsys.readouterr().out
    arrays, script = sorted((tmp_path / "new" / "folder").iterdir())
    assert script.read_text(encoding="utf-8") in out
    assert script.name in out
    assert arrays.name in out
    assert (script.suffix, arrays.suffix, script.stem) == (".py", ".npz", arrays.stem)


def test_red_names_the_first_wrong_value_and_the_proven_one(capsys, tmp_path):
    code, out = repro(
        capsys, write_adapter(tmp_path / "adapter.py", ("FACTOR = 1.0", "FACTOR = 1.5")), f"{CASE}:golden"
    )
    assert code == 1
    assert out.startswith(f"{CASE}:golden: fail\noutput is off by ")
    pattern = r"^output: first wrong at \[0, 0, 0, 0\]: got (\S+), want (\S+), "
    got, want = map(float, re.search(pattern, out, re.MULTILINE).groups())
    assert want == linattn_golden.load(linattn_golden.case(CASE.split(":")[0])).output[0, 0, 0, 0]
    assert got == pytest.approx(1.5 * want, rel=2.0**-20)  # of a few operations in float32
    assert "\nfinal_state/S: largest error, within the limit of an element, at [" in out


def test_a_value_that_is_no_number_is_the_first_wrong_one(capsys, tmp_path):
    path = write_adapter(tmp_path / "adapter.py", (BODY, f"    q[1, 2, 1] = np.nan\n{BODY}"))
    code, out = repro(capsys, path, f"{CASE}:golden")
    assert code == 1
    assert "\noutput: first wrong at [1, 1, 2, 0]: got nan, want " in out


@pytest.mark.parametrize(
    ("law", "fault", "said"),
    [
        ("split", "initial_state = None", "split at 1: output: first wrong at [0, 0, 1, 0]: got "),
        ("prefix", "k = k + k[:, -1:]", "tokens from 3 on changed: output: first wrong at [0, 0, 0, 0]: got "),
        ("batch", "k = k + k[-1:]", "the other batch entries changed: output: first wrong at [0, 0, 0, 0]: got "),
        ("heads", "k = k + k[:, :, -1:]", "the other heads changed: output: first wrong at [0, 0, 0, 0]: got "),
        ("untouched", "q *= 2", "the call changed its argument q"),
    ],
)
def test_a_broken_law(capsys, tmp_path, law, fault, said):
    path = write_adapter(tmp_path / "adapter.py", (BODY, f"    {fault}\n{BODY}"))
    code, out = repro(capsys, path, f"{CASE}:{law}")
    assert code == 1
    assert out.startswith(f"{CASE}:{law}: fail\n")
    assert any(line.startswith(said) for line in out.splitlines())
    assert "\n# The law compares several calls; this is the one of the whole sequence.\n" in out


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        ("q, S).astype(float), S[:, -1]", "output must have dtype float32; got float64"),
        ("q, S)[..., 0], S[:, -1]", "output must have shape (2, 3, 7, 11) (B, H, ...); got (2, 3, 7)"),
        ("q, S), (S[:, -1], k)", "final_state must hold S; got 2 arrays"),
    ],
)
def test_what_cannot_be_compared_is_wrong(capsys, tmp_path, returned, reason):
    code, out = repro(capsys, write_adapter(tmp_path / "adapter.py", (RETURNED, returned)), f"{CASE}:golden")
    assert code == 1
    assert out.startswith(f"{CASE}:golden: fail\n{reason}\n")


@pytest.mark.parametrize("case", [CASE, "linear_attention/recipe-64:recurrent:fp64"])
def test_an_error(capsys, tmp_path, case):
    """Also where float64 has no truth to be compared with."""
    raising = ("    count()\n", "    raise RuntimeError('out of\\n memory')\n")
    path = write_adapter(
        tmp_path / "adapter.py", raising, ('version="1.2"', 'profiles=("fp32", "fp64")'), (" and K < 64", "")
    )
    code, out = repro(capsys, path, f"{case}:golden")
    assert code == 1
    assert out.startswith(f"{case}:golden: error\nRuntimeError: out of\n memory\n")


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (
            "linear_attention/grouped-query:recurrent:fp32:golden",
            "accepts Hq == Hk and Hk == Hv and K < 64; the case has",
        ),
        ("linear_attention/one-token:recurrent:fp64:golden", "promises no profile fp64"),
        ("linear_attention/one-token:recurrent:fp32:batch", "the case has but one"),
    ],
)
def test_unsupported(capsys, tmp_path, check, reason):
    path = write_adapter(tmp_path / "adapter.py")
    code, out = repro(capsys, path, check)
    assert code == 2
    assert out.startswith(f"{check}: unsupported\n{reason}")
    assert list(tmp_path.glob("repro*")) == []


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("kda/long", "check id must be VARIANT/SCENARIO:FORM:PROFILE:CHECK; got 'kda/long'"),
        (
            "kda:recurrent:fp32:golden",
            "check id must be VARIANT/SCENARIO:FORM:PROFILE:CHECK; got 'kda:recurrent:fp32:golden'",
        ),
        ("kda/lang:recurrent:fp32:golden", "case must be one of kda/by-hand, "),
        ("cda/long:recurrent:fp32:golden", "case must be one of "),
        ("kda/long:recursive:fp32:golden", "NumPy folds of linattn does not implement kda recursive"),
        ("kda/long:recurrent:fp32:gold", f"check must be one of {', '.join((*CHECKS, 'live'))}; got 'gold'"),
    ],
)
def test_an_id_of_nothing(capsys, tmp_path, check, message):
    assert run("repro", check, "--backend", "numpy") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"linattn: {message}")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_backend(capsys):
    assert run("repro", f"{CASE}:golden", "--backend", "nothing") == 2
    assert capsys.readouterr().err.startswith("linattn: backend nothing: expected one of numpy, ")
