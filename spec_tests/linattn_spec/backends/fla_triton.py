"""flash-linear-attention: its Triton kernels, and the plain PyTorch by which it tests them (label ``naive``).

Where there is no GPU the kernels run in Triton's interpreter. All compute in float32; those that work on chunks round
what they multiply to the dtype of the arrays.
"""

import inspect
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from linattn.variants import variant as find_variant
from linattn_spec.backend import Backend, Unsupported
from linattn_spec.backends import triton_interpreter
from linattn_spec.backends.numpy_folds import with_signature

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
os.environ["TRITON_F32_DEFAULT"] = "ieee"  # a GPU would multiply float32 as TF32
if DEVICE == "cpu":
    triton_interpreter.use()

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it says that there is no GPU
    import fla
    from fla.ops import delta_rule, gated_delta_rule, gla, kda, linear_attn, simple_gla
    from fla.ops.delta_rule.naive import delta_rule_recurrence
    from fla.ops.gla.naive import naive_recurrent_gla
    from fla.ops.kda.naive import naive_chunk_kda, naive_recurrent_kda
    from fla.ops.linear_attn.naive import naive_recurrent_linear_attn
    from fla.ops.simple_gla.naive import naive_chunk_simple_gla, naive_parallel_simple_gla, naive_recurrent_simple_gla

backend = Backend("flash-linear-attention", version=fla.__version__, array="torch")

UNGROUPED = "Hq == Hk == Hv"
GROUPED = "Hq == Hk and Hv % Hk == 0"


def register(
    variant: str,
    form: str,
    function: Callable[..., Any],
    accepts: str = UNGROUPED,
    decay: str = "g",
    chunk_size: int = 0,
    fixed: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    """A function as it is; ``decay`` is its name for log_decay, ``fixed`` what it is called with besides."""
    offered = inspect.signature(function).parameters
    fixed = (fixed or {}) | ({"output_final_state": True} if "output_final_state" in offered else {})
    names = {item.name: item.name for item in find_variant(variant).inputs} | {"log_decay": decay}
    names |= {name: name for name in ("initial_state", "cu_seqlens")}

    def call(**given: Any) -> Any:
        if given["q"].requires_grad and given["q"].dtype != torch.float32:
            raise Unsupported("a backward pass keeps what it needs, gates included, in the dtype of the arrays")
        arguments = {names.get(name, name): on_device(x) for name, x in given.items()}
        with np.errstate(all="ignore"):  # the interpreter is NumPy
            output, state = function(**arguments, **fixed)
        return output, state if "initial_state" in offered else None

    with_signature(
        call,
        [n for n, theirs in names.items() if theirs in offered],
        **({"chunk_size": chunk_size} if chunk_size else {}),
    )
    snippet = SNIPPET.format(module=function.__module__, name=function.__name__, decay=decay, fixed=fixed)
    backend.implements(variant, form, accepts, snippet=snippet, **{"vjp": "autograd"} | options)(call)


def on_device(x: Any) -> Any:
    if isinstance(x, tuple):
        return tuple(map(on_device, x))
    return x.to(DEVICE) if isinstance(x, torch.Tensor) else x


SNIPPET = """\
import torch
from {module} import {name}

device = "cuda" if torch.cuda.is_available() else "cpu"  # with TRITON_INTERPRET=1, for some
given = {{"{decay}" if n == "log_decay" else n: x for n, x in arguments.items()}}
given = {{n: x.to(device) if isinstance(x, torch.Tensor) else x for n, x in given.items()}}
output, state = {name}(**given, **{fixed})"""

INSIDE: dict[str, Any] = {"profiles": ("fp32", "bf16-io")}
FORWARD: dict[str, Any] = INSIDE | {"vjp": ""}  # without a backward pass
OPERANDS = ("fp32", "fp16") if DEVICE == "cpu" else ("fp32", "fp16", "bf16")  # the interpreter has no bfloat16
CHUNK: dict[str, Any] = {"label": "chunk", "profiles": OPERANDS}
FUSED: dict[str, Any] = {"label": "fused-chunk", "profiles": OPERANDS}
NAIVE: dict[str, Any] = {"label": "naive"}
PLAIN = {"normalize": False}

register("linear_attention", "recurrent", linear_attn.fused_recurrent_linear_attn, fixed=PLAIN, **INSIDE)
register("linear_attention", "chunkwise", linear_attn.chunk_linear_attn, fixed=PLAIN, **CHUNK)
register("linear_attention", "chunkwise", linear_attn.fused_chunk_linear_attn, fixed=PLAIN, **FUSED)
register("linear_attention", "recurrent", naive_recurrent_linear_attn, fixed=PLAIN, **NAIVE)

# These are what the functions of retention call, each with decays of its own.
FIXED = {"without": ("log_decay",)}
register("retention", "recurrent", simple_gla.fused_recurrent_simple_gla, decay="g_gamma", **INSIDE | FIXED)
register("retention", "chunkwise", simple_gla.chunk_simple_gla, decay="g_gamma", **CHUNK | FIXED)
register("retention", "chunkwise", simple_gla.fused_chunk_simple_gla, decay="g_gamma", **FUSED | FIXED)

SIZES = " and C in (16, 32, 64)"
register("simple_gla", "recurrent", simple_gla.fused_recurrent_simple_gla, **INSIDE)
register("simple_gla", "chunkwise", simple_gla.chunk_simple_gla, UNGROUPED + SIZES, chunk_size=64, **CHUNK)
register("simple_gla", "chunkwise", simple_gla.fused_chunk_simple_gla, **FUSED)
register("simple_gla", "parallel", simple_gla.parallel_simple_gla, profiles=OPERANDS)
register("simple_gla", "recurrent", naive_recurrent_simple_gla, **NAIVE)
register("simple_gla", "chunkwise", naive_chunk_simple_gla, chunk_size=64, **NAIVE)
register("simple_gla", "parallel", naive_parallel_simple_gla, **NAIVE)

register("gla", "recurrent", gla.fused_recurrent_gla, decay="gk", **INSIDE)
register("gla", "chunkwise", gla.chunk_gla, **CHUNK)
register("gla", "recurrent", naive_recurrent_gla, decay="gk", **NAIVE)

HALF = CHUNK | {"profiles": OPERANDS[1:]}  # it refuses float32
register("delta_rule", "recurrent", delta_rule.fused_recurrent_delta_rule, **INSIDE)
register("delta_rule", "chunkwise", delta_rule.chunk_delta_rule, UNGROUPED + SIZES, chunk_size=64, **HALF)
register("delta_rule", "recurrent", delta_rule_recurrence, layout="BHTD", **NAIVE)

register("gated_delta_rule", "recurrent", gated_delta_rule.fused_recurrent_gated_delta_rule, GROUPED, **FORWARD)
register(
    "gated_delta_rule", "chunkwise", gated_delta_rule.chunk_gated_delta_rule, GROUPED + SIZES, chunk_size=64, **CHUNK
)
register("gated_delta_rule", "recurrent", gated_delta_rule.naive_recurrent_gated_delta_rule, **NAIVE)
register("gated_delta_rule", "chunkwise", gated_delta_rule.naive_chunk_gated_delta_rule, chunk_size=64, **NAIVE)

register("kda", "recurrent", kda.fused_recurrent_kda, GROUPED, **FORWARD)
register("kda", "chunkwise", kda.chunk_kda, f"{GROUPED} and C in (32, 64)", chunk_size=64, **CHUNK)
register("kda", "recurrent", naive_recurrent_kda, GROUPED, **NAIVE)
register("kda", "chunkwise", naive_chunk_kda, f"{GROUPED} and T % C == 0", chunk_size=64, **NAIVE)


def normalised(function: Callable[..., Any]) -> Callable[..., Any]:
    """Its normaliser lies along time, like the keys whose sum it is, and has their dtype."""

    def call(q, k, v, initial_state, cu_seqlens):
        q, k, v, state, cu_seqlens = on_device((q, k, v, initial_state, cu_seqlens))
        start = state and (state[0], state[1][:, None])
        output, (S, z) = function(q, k, v, 1.0, start, True, normalize=True, cu_seqlens=cu_seqlens)
        return output, (S, z[:, 0])

    return call


for _form, _label, _function in (
    ("recurrent", "", linear_attn.fused_recurrent_linear_attn),
    ("chunkwise", "chunk", linear_attn.chunk_linear_attn),
    ("chunkwise", "fused-chunk", linear_attn.fused_chunk_linear_attn),
):
    backend.implements("normalised_linear_attention", _form, UNGROUPED, label=_label, vjp="autograd")(
        normalised(_function)
    )
