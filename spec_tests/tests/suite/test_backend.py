"""Backends: what a description may say, and how one is found."""

import pytest

from linattn_spec import Backend, NoBackend, Unsupported, load
from linattn_spec.backend import Conventions


def linear_attention(q, k, v, scale):
    raise AssertionError("must not be called")


@pytest.fixture
def backend() -> Backend:
    return Backend("mine", layout="BHTD", gate="linear")


def test_a_function_has_the_conventions_of_its_backend_but_for_its_own(backend):
    backend.implements("linear_attention", "recurrent")(linear_attention)
    backend.implements("linear_attention", "parallel", state="VK", gate="log", profiles=["fp16"])(linear_attention)
    first, second = backend.functions
    assert first.conventions == Conventions("BHTD", "KV", "linear", "repeat")
    assert second.conventions == Conventions("BHTD", "VK", "log", "repeat")
    assert [[p.name for p in f.profiles] for f in (first, second)] == [["fp32"], ["fp16"]]
    assert first.parameters == ("q", "k", "v", "scale")


def test_two_functions_of_one_form_need_labels(backend):
    register = backend.implements("linear_attention", "recurrent")
    register(linear_attention)
    with pytest.raises(ValueError, match="mine implements linear_attention recurrent twice; give one of them a label"):
        register(linear_attention)
    backend.implements("linear_attention", "recurrent", label="fused")(linear_attention)
    assert [function.column for function in backend.functions] == ["recurrent", "recurrent.fused"]
    assert backend.function("linear_attention", "recurrent.fused") is backend.functions[1]
    with pytest.raises(ValueError, match="mine does not implement linear_attention parallel"):
        backend.function("linear_attention", "parallel")


def test_accepts_has_the_dimensions_and_nothing_else(backend):
    backend.implements("linear_attention", "recurrent", accepts="K == 64 or Hq % Hk")(linear_attention)
    backend.implements("linear_attention", "parallel", accepts="__import__('os')")(linear_attention)
    narrow, hostile = backend.functions
    narrow.check_accepts({"K": 64, "Hq": 2, "Hk": 2})
    narrow.check_accepts({"K": 5, "Hq": 3, "Hk": 2})
    with pytest.raises(Unsupported, match="accepts K == 64 or Hq % Hk; the case has K=5, Hq=2, Hk=2"):
        narrow.check_accepts({"K": 5, "Hq": 2, "Hk": 2})
    with pytest.raises(NameError):
        hostile.check_accepts({"K": 64})


FILE = """
from linattn_spec import Backend
backend = Backend("from a file")
other = Backend("under another name")
"""


def test_load(tmp_path, monkeypatch):
    (tmp_path / "described.py").write_text(FILE)
    assert load(str(tmp_path / "described.py")).name == "from a file"
    monkeypatch.syspath_prepend(tmp_path)
    assert load("described:other").name == "under another name"
    assert load("numpy").name == "NumPy folds of linattn"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "expected a linattn_spec.Backend; got NoneType"),
        ("backend = 7", "expected a linattn_spec.Backend; got int"),
        ("import a_library_that_is_not_there", "No module named 'a_library_that_is_not_there'"),
    ],
)
def test_a_file_without_a_backend_is_none(tmp_path, content, words):
    path = tmp_path / "described.py"
    path.write_text(content)
    with pytest.raises(NoBackend, match=f"backend .*described.py: {words}"):
        load(str(path))


@pytest.mark.parametrize("name", ["numpi", "gone.py", "no_such_module:backend", "os:no_such_name"])
def test_there_is_no_such_backend(name):
    with pytest.raises(NoBackend, match=f"^backend {name}: "):
        load(name)
