"""Finding a backend: built in, installed, in a file or in a module."""

import importlib
import importlib.util
import inspect
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from linattn_spec.backend import Backend

BUILT_IN = {
    "numpy": "linattn_spec.backends.numpy_folds:folds",
    "onnx-reference": "linattn_spec.backends.onnx_reference:backend",
    "onnxruntime": "linattn_spec.backends.onnx_runtime:backend",
    "transformers": "linattn_spec.backends.transformers_torch:backend",
    "tree-recurrence": "linattn_spec.backends.tree_recurrence:backend",
    "mlstm-kernels": "linattn_spec.backends.mlstm_kernels:backend",
    "fla": "linattn_spec.backends.fla.backend:backend",
    "mlx-lm": "linattn_spec.backends.mlx_lm:backend",
    "jax-linear-attention": "linattn_spec.backends.jax_linear_attention:backend",
}


class NoBackend(Exception):
    """There is no such backend, or something that it needs is not installed."""


def load(name: str) -> Backend:
    """A built-in or installed backend by name, ``path.py`` (its ``backend``), or ``module:object``; the object may be a
    function that makes it.
    """
    installed = {point.name: point.value for point in entry_points(group="linattn.backends")}
    where = BUILT_IN.get(name) or installed.get(name) or name
    try:
        found = from_file(Path(where)) if where.endswith(".py") else from_module(where)
    except ImportError as missing:
        raise NoBackend(f"backend {name}: {missing}") from missing
    if not isinstance(found, Backend):
        raise NoBackend(f"backend {name}: expected a linattn_spec.Backend; got {type(found).__name__}")
    return found


def from_file(path: Path) -> Any:
    if not path.is_file():
        raise NoBackend(f"backend {path}: no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, "backend", None)


def from_module(where: str) -> Any:
    module, _, attribute = where.partition(":")
    if not attribute:
        known = ", ".join(BUILT_IN)
        raise NoBackend(f"backend {where}: expected one of {known}, an installed one, path.py or module:object")
    found = getattr(importlib.import_module(module), attribute, None)
    return found() if inspect.isfunction(found) else found
