"""The script of ``linattn repro``: it shows the error to those who have the implementation and not linattn."""

import re
from itertools import product

import pytest
from commandline import SMALL, python, run, write_adapter

WITHOUT_LINATTN = """
import runpy, sys
sys.modules.update(dict.fromkeys(["linattn", "linattn_golden", "linattn_spec", "linattn_tools"]))
runpy.run_path(sys.argv[1])
"""
# Rounding in float32, a few hundred times 2^-24 of the size; what is laid out wrongly is off by the size itself.
ROUNDING = 2.0**-14


def script_of(check, path, code):
    assert run("repro", check, "--backend", path, "--out", path.parent / "out") == code
    (script,) = (path.parent / "out").glob("*.py")
    return script


def shown(script):
    """By array what the script prints: dtype, largest error in parts of the largest value."""
    done = python("-c", WITHOUT_LINATTN, script, cwd=script.parent.parent)
    assert done.returncode == 0, done.stderr
    pattern = r"(\S+): (\S+) \(.*\), largest error (\S+) where values are up to (\S+)"
    lines = [re.fullmatch(pattern, line).groups() for line in done.stdout.splitlines()]
    return {name: (dtype, float(error) / float(size)) for name, dtype, error, size in lines}


@pytest.mark.parametrize(
    ("check", "states"),
    [
        ("linear_attention/one-token:recurrent:fp32:golden", ["S"]),  # no initial state
        ("linear_attention/long:recurrent:fp32:split", ["S"]),
        ("normalised_linear_attention/odd-dims:recurrent:fp32:golden", ["S", "z"]),
        ("linear_attention/odd-dims:bidirectional:fp32:golden", []),
    ],
)
def test_of_a_right_implementation(tmp_path, check, states):
    arrays = shown(script_of(check, write_adapter(tmp_path / "adapter.py"), 0))
    assert list(arrays) == ["output", *(f"final_state/{name}" for name in states)]
    assert all(dtype == "float32" and error < ROUNDING for dtype, error in arrays.values())


READ = 'scale * np.einsum("bthk,bthkv->bthv", q, S)'
RETURN = f"return FACTOR * {READ}, S[:, -1]"


@pytest.mark.parametrize(
    ("returned", "output", "state", "dtype"),
    [
        (f"return 1.5 * {READ}, S[:, -1]", 0.5, 0, "float32"),
        (f"return {READ}, 1.5 * S[:, -1]", 0, 0.5, "float32"),
        (f"return ({READ}).astype(float), S[:, -1]", 0, 0, "float64"),
    ],
)
def test_of_a_wrong_implementation(tmp_path, returned, output, state, dtype):
    """What is 1.5 times too large is off by half of the largest value; three digits are printed."""
    path = write_adapter(tmp_path / "adapter.py", (RETURN, returned))
    arrays = shown(script_of("linear_attention/odd-dims:recurrent:fp32:golden", path, 1))
    assert arrays["output"] == (dtype, pytest.approx(output, abs=0.01))
    assert arrays["final_state/S"] == ("float32", pytest.approx(state, abs=0.01))


def test_of_an_error(tmp_path):
    """The reason has two lines; both are comments."""
    raising = ("    count()\n", "    raise RuntimeError('out of\\nmemory')\n")
    path = write_adapter(tmp_path / "adapter.py", raising)
    done = python("-c", WITHOUT_LINATTN, script_of("linear_attention/long:recurrent:fp32:golden", path, 1))
    assert done.returncode == 1
    assert done.stderr.endswith("RuntimeError: out of\nmemory\n")


CONVENTIONS = """
import numpy as np
from linattn_spec import Backend

backend = Backend("another", layout="{layout}", state="{state}", heads="{heads}")
REPEAT = {heads!r} == "repeat"


def turned(x):
    return np.swapaxes(x, 1, 2) if {layout!r} == "BHTD" else x


def transposed(S):
    return np.swapaxes(S, -1, -2) if {state!r} == "VK" else S


@backend.implements("linear_attention", "recurrent")
def _(q, k, v, scale, initial_state):
    q, k, v = map(turned, (q, k, v))
    S = np.cumsum(np.einsum("bthk,bthv->bthkv", k, v), axis=1) + transposed(initial_state)[:, None]
    ratio = q.shape[2] // v.shape[2]
    seen = np.repeat(S, ratio, axis=2) if REPEAT else np.tile(S, (1, 1, ratio, 1, 1))
    return turned(scale * np.einsum("bthk,bthkv->bthv", q, seen)), transposed(S[:, -1])
"""


@pytest.mark.parametrize(
    ("layout", "state", "heads"), list(product(("BTHD", "BHTD"), ("KV", "VK"), ("repeat", "tile"))), ids="-".join
)
def test_arrays_and_right_results_are_in_the_conventions_of_the_implementation(tmp_path, layout, state, heads):
    """All dimensions of the case differ, and there are more query heads than others."""
    path = tmp_path / "adapter.py"
    path.write_text(CONVENTIONS.format(layout=layout, state=state, heads=heads))
    arrays = shown(script_of("linear_attention/grouped-query:recurrent:fp32:golden", path, 0))
    assert list(arrays) == ["output", "final_state/S"]
    assert all(error < ROUNDING for _, error in arrays.values())


def test_bfloat16(tmp_path):
    """An output of 8 bits, rounded by at most 2^-8; float32 inside."""
    pytest.importorskip("ml_dtypes")
    path = write_adapter(
        tmp_path / "adapter.py",
        ('version="1.2"', 'profiles=("bf16-io",)'),
        (
            "    if q.ndim != 4:",
            "    narrow = q.dtype\n    q, k, v = (x.astype('f4') for x in (q, k, v))\n    if q.ndim != 4:",
        ),
        (RETURN, f"return ({READ}).astype(narrow), S[:, -1]"),
    )
    arrays = shown(script_of("linear_attention/odd-dims:recurrent:bf16-io:golden", path, 0))
    assert arrays["output"][0] == "bfloat16"
    assert ROUNDING < arrays["output"][1] < 2.0**-8
    assert arrays["final_state/S"][1] < ROUNDING


CLOSURE = """
def made():
    factor = FACTOR

    def call(q, k, v, scale, initial_state):
        return factor * linear(q, k, v, scale, initial_state)[0], None

    return call


"""


@pytest.mark.parametrize(
    "call",
    [
        "made()",
        "lambda q, k, v, scale, initial_state: linear(q, k, v, scale, initial_state)",
        "__import__('functools').partial(linear)",
    ],
    ids=["closure", "lambda", "partial"],
)
def test_what_is_no_plain_function_is_found_through_the_suite(tmp_path, call):
    path = write_adapter(tmp_path / "adapter.py")
    with path.open("a") as adapter:
        adapter.write(f'{CLOSURE}backend.implements("linear_attention", "parallel", "{SMALL}")({call})\n')
    script = script_of("linear_attention/long:parallel:fp32:golden", path, 0)
    done = python(script)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("output: float32 (1, 33, 2, 6), largest error ")
    assert "from linattn_spec import load  # the adapter is no plain function of its file" in script.read_text()


def test_an_adapter_of_a_package_is_found_through_the_suite(tmp_path, monkeypatch):
    """What it imports from beside itself cannot stand in a script."""
    package = tmp_path / "acme_kernels"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "fast.py").write_text("FACTOR = 1.0\n")
    write_adapter(package / "adapter.py", ("FACTOR = 1.0\n", "from .fast import FACTOR\n"))
    monkeypatch.syspath_prepend(tmp_path)
    check = "linear_attention/long:recurrent:fp32:golden"
    assert run("repro", check, "--backend", "acme_kernels.adapter:backend", "--out", "out") == 0
    (script,) = (tmp_path / "out").glob("*.py")
    done = python("-c", f"import runpy; runpy.run_path({str(script)!r})", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "from linattn_spec import load" in script.read_text()


@pytest.mark.parametrize("name", ["onnxruntime", "onnx-reference"])
def test_of_onnx_without_linattn(tmp_path, name):
    """A library's script is its own: the model and the call."""
    pytest.importorskip(name.replace("-", "."))
    column = "recurrent.com.microsoft" if name == "onnxruntime" else "recurrent"
    assert run("repro", f"kda/odd-dims:{column}:fp32:golden", "--backend", name, "--out", tmp_path) in (0, 1)
    (script,) = tmp_path.glob("*.py")
    arrays = shown(script)
    assert list(arrays) == ["output", "final_state/S"]
    assert all(dtype == "float32" and error < ROUNDING for dtype, error in arrays.values())
