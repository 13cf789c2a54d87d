"""The files: safetensors, written so that equal tensors give equal bytes, and read with NumPy alone.

A file is the length of its header (8 bytes, little-endian), the header as JSON, then the tensors one after the
other, little-endian in C order. BF16 travels as the upper 16 bits of a float32. Other languages read it with any
safetensors library, or in 25 lines.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

DTYPES = {"BF16": "<u2", "F32": "<f4", "F64": "<f8"}


def encode(array: np.ndarray, dtype: str) -> bytes:
    """The array as that dtype, which must hold every value exactly. Raises ``ValueError`` where it does not."""
    if dtype == "BF16":
        bits = np.asarray(array, dtype="<f4").view("<u4")
        stored = (bits >> 16).astype("<u2")
    else:
        stored = np.ascontiguousarray(array, dtype=DTYPES[dtype])
    if not np.array_equal(decode(stored.tobytes(), dtype, np.shape(array)), array):
        raise ValueError(f"{dtype} does not hold every value exactly")
    return stored.tobytes()


def decode(data: bytes, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """float64 values, which hold every dtype exactly."""
    stored = np.frombuffer(data, dtype=DTYPES[dtype])
    if dtype == "BF16":
        stored = (stored.astype("<u4") << 16).view("<f4")
    return stored.astype(float).reshape(shape)


def write(path: Path, tensors: Mapping[str, tuple[str, np.ndarray]]) -> None:
    """``tensors``: name -> (dtype, array). Names are sorted, the header padded with spaces to a multiple of 8."""
    header, parts, offset = {}, [], 0
    for name in sorted(tensors):
        dtype, array = tensors[name]
        parts.append(encode(array, dtype))
        end = offset + len(parts[-1])
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))


def read(path: Path) -> dict[str, np.ndarray]:
    """All tensors of a file as float64."""
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    return {
        name: decode(
            data[start + entry["data_offsets"][0] : start + entry["data_offsets"][1]],
            entry["dtype"],
            tuple(entry["shape"]),
        )
        for name, entry in header.items()
    }
