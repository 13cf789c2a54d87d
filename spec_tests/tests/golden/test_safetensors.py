"""The files: exact, deterministic, and the same to the official reader."""

import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors import safe_open
from safetensors.numpy import save_file

import linattn_golden
from linattn_golden import safetensors
from linattn_golden.safetensors import DTYPES, decode, encode

WIDTH = {"BF16": 16, "F32": 32, "F64": 64}
NUMPY = {"BF16": ml_dtypes.bfloat16, "F32": np.float32, "F64": np.float64}
SHAPES = array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3)


@st.composite
def tensors(draw, dtype):
    """Any values of a dtype but NaN, from their bits."""
    bits = draw(arrays(np.dtype(f"u{WIDTH[dtype] // 8}"), draw(SHAPES)))
    values = bits.view(NUMPY[dtype]).astype(float)
    return np.where(np.isnan(values), 0, values)


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.data())
def test_every_value_comes_back(dtype, data):
    """With its sign, infinite and subnormal ones included."""
    array = data.draw(tensors(dtype))
    back = decode(encode(array, dtype), dtype, array.shape)
    assert back.shape == array.shape
    assert np.array_equal(back, array)
    assert np.array_equal(np.signbit(back), np.signbit(array))


@pytest.mark.parametrize("dtype", DTYPES)
@given(st.data())
def test_bytes_are_those_of_the_dtype(dtype, data):
    array = data.draw(tensors(dtype))
    assert encode(array, dtype) == array.astype(NUMPY[dtype]).tobytes()


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("BF16", 1 + 2.0**-8),
        ("BF16", 0.1),
        ("F32", 1 + 2.0**-24),
        ("F32", 2.0**-160),
        ("F64", np.nan),
        ("BF16", np.nan),
    ],
)
def test_what_a_dtype_does_not_hold_is_refused(dtype, value):
    with pytest.raises(ValueError, match=f"^{dtype} does not hold every value exactly$"):
        encode(np.array([1.0, value]), dtype)


EXAMPLE = {
    "b/second": ("F64", np.array([[0.1, -np.inf]])),
    "a": ("BF16", np.array([1.0, -0.0, 0.5])),
    "b/empty": ("F32", np.zeros((2, 0, 3))),
    "scalar": ("F64", np.array(3.0)),
}


def test_equal_tensors_give_equal_bytes(tmp_path):
    """Whatever their order, memory layout and dtype in memory."""
    turned = {
        name: (dtype, np.array(array, dtype=np.longdouble, order="F")) for name, (dtype, array) in EXAMPLE.items()
    }
    safetensors.write(tmp_path / "one", EXAMPLE)
    safetensors.write(tmp_path / "two", dict(reversed(turned.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_the_bytes_as_the_format_wants_them(tmp_path):
    """Written out by hand: length, header in order and padded to a multiple of 8, tensors without gaps."""
    safetensors.write(tmp_path / "file", {"y": ("F32", np.array([2.0])), "x": ("BF16", np.array([[1.0, -2.0]]))})
    x = b'"x":{"dtype":"BF16","shape":[1,2],"data_offsets":[0,4]}'
    y = b'"y":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}'
    header = b"{%s,%s}" % (x, y)
    header += b" " * (-len(header) % 8)
    data = bytes.fromhex("803f00c0") + bytes.fromhex("00000040")
    assert (tmp_path / "file").read_bytes() == len(header).to_bytes(8, "little") + header + data


def read_officially(path):
    with safe_open(path, framework="numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)


def assert_same(ours, official):
    assert ours.keys() == official.keys()
    for name, array in official.items():
        assert array.shape == ours[name].shape
        assert np.array_equal(array.astype(float), ours[name]), name


def test_the_official_reader_reads_what_is_written(tmp_path):
    safetensors.write(tmp_path / "file", EXAMPLE)
    official = read_officially(tmp_path / "file")
    assert_same(safetensors.read(tmp_path / "file"), official)
    assert {name: array.dtype for name, array in official.items()} == {n: NUMPY[d] for n, (d, _) in EXAMPLE.items()}


@pytest.mark.parametrize("path", sorted(linattn_golden.DATA.glob("*.safetensors")), ids=lambda path: path.stem)
def test_the_official_reader_reads_the_golden_files(path):
    assert_same(safetensors.read(path), read_officially(path))


def test_files_of_the_official_writer_are_read(tmp_path):
    """It sorts in its own way and writes metadata."""
    arrays = {"b": np.array([[0.1, 0.2]]), "a": np.array([1.5, -2], dtype=np.float32)}
    save_file(arrays, tmp_path / "file", metadata={"format": "np"})
    header_length = int.from_bytes((tmp_path / "file").read_bytes()[:8], "little")
    assert "__metadata__" in json.loads((tmp_path / "file").read_bytes()[8 : 8 + header_length])
    assert_same(safetensors.read(tmp_path / "file"), arrays)
