"""mlstm-kernels: mLSTM as its authors write it in PyTorch, with backward passes of their own.

Gates enter before their activations. Their eps is no part of mLSTM. Kernels that see a whole sequence at once take no
state, and return none.
"""

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from mlstm_kernels.torch import get_mlstm_kernel, get_mlstm_sequence_kernel

from linattn_spec.backend import Backend

backend = Backend(
    "mlstm-kernels", version=version("mlstm-kernels"), array="torch", profiles=("fp32", "fp64"), layout="BHTD"
)
UNGROUPED = "Hq == Hk == Hv"


def before_its_sigmoid(log_gate: Any) -> Any:
    return log_gate - (-log_gate.expm1()).log()


def with_state(kernel: Callable[..., Any], options: Callable[[Any], dict[str, Any]]) -> Callable[..., Any]:
    """``options(q)`` are those that the kernel alone has."""

    def call(q, k, v, log_decay, log_input, initial_state):
        S, z, m = initial_state or (None, None, None)
        given = (q, k, v, log_input, before_its_sigmoid(log_decay), S, z, m)
        return kernel(*given, return_last_states=True, eps=0.0, **options(q))

    return call


def token_by_token(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return with_state(kernel, lambda q: {"dtype_state": q.dtype})


def in_chunks(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Whole ones alone."""
    return with_state(kernel, lambda q: {"chunk_size": max(n for n in range(1, 17) if q.shape[2] % n == 0)})


def at_once(kernel: Callable[..., Any]) -> Callable[..., Any]:
    return lambda q, k, v, log_decay, log_input: kernel(q, k, v, log_input, before_its_sigmoid(log_decay), eps=0.0)


def with_sigmoid(kernel: Callable[..., Any], normalize: bool) -> Callable[..., Any]:
    def call(q, k, v, log_decay, i):
        gates = before_its_sigmoid(i.log()), before_its_sigmoid(log_decay)
        return kernel(q, k, v, *gates, eps=0.0, normalize=normalize)

    return call


def kernels(form: str, gate: str = "") -> list[tuple[str, Any]]:
    """Those whose derivatives are torch's, and those with a backward pass of their own, by label."""
    names = {"": f"{form}--native{gate}_autograd", "own-backward": f"{form}--native{gate}_custbw"}
    return [(label, get_mlstm_kernel(name)) for label, name in names.items()]


_sequence = token_by_token(get_mlstm_sequence_kernel("native_sequence__native"))
backend.implements("mlstm", "recurrent", UNGROUPED, vjp="autograd")(_sequence)
for _form, _adapted in (("chunkwise", in_chunks), ("parallel", at_once)):
    for _label, _kernel in kernels(_form):
        backend.implements("mlstm", _form, UNGROUPED, label=_label, vjp="autograd")(_adapted(_kernel))
for _variant, _normalize in (("mlstm_sigmoid", False), ("mlstm_sigmoid_normalised", True)):
    for _label, _kernel in kernels("parallel", "_siging"):
        backend.implements(_variant, "parallel", UNGROUPED, label=_label, vjp="autograd")(
            with_sigmoid(_kernel, _normalize)
        )
