"""Arrays of the frameworks, to and fro, with the dtype by name. bfloat16, which NumPy lacks, travels as float32."""

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Typed:
    """float64 values that a dtype holds, and the name of that dtype."""

    values: np.ndarray
    dtype: str


def typed(values: Any, dtype: str) -> Typed:
    """The values rounded to the dtype."""
    if dtype == "bfloat16":
        bits = np.asarray(values, dtype=np.float32).view(np.uint32).astype(np.uint64)
        bits = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
        return Typed(bits.astype(np.uint32).view(np.float32).astype(float), dtype)
    with np.errstate(over="ignore"):
        return Typed(np.asarray(values).astype(dtype).astype(float), dtype)


def to_array(framework: str, x: Typed) -> Any:
    """A fresh, writable array of the framework."""
    if framework == "numpy":
        return x.values.astype(numpy_dtype(x.dtype), order="C")
    if framework == "torch":
        import torch

        return torch.tensor(x.values).to(getattr(torch, x.dtype))
    if framework == "jax":
        import jax.numpy as jnp

        return jnp.asarray(x.values.astype(np.float64 if x.dtype == "float64" else np.float32), dtype=x.dtype)
    if framework == "mlx":
        import mlx.core as mx

        return mx.array(x.values.astype(np.float32)).astype(getattr(mx, x.dtype))  # float64 is not for every device
    raise ValueError(f"array must be one of numpy, torch, jax, mlx; got {framework!r}")


def from_array(framework: str, x: Any) -> Typed:
    """What came back, with the dtype that it had."""
    dtype = str(x.dtype).split(".")[-1] if hasattr(x, "dtype") else type(x).__name__
    if framework == "torch":
        return Typed(x.detach().cpu().double().numpy(), dtype)
    if framework == "mlx":
        import mlx.core as mx

        x = x.astype(mx.float32)
    return Typed(np.asarray(x).astype(float), dtype)


def numpy_dtype(name: str) -> Any:
    if name != "bfloat16":
        return np.dtype(name)
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
