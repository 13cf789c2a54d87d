"""Hugging Face transformers: the delta rules of Qwen3-Next and Kimi Linear, Mamba, Mamba-2 and others, as it writes
them in PyTorch.

Where flash-linear-attention or mamba-ssm is installed, transformers puts its kernels under the same names; ``unwrap``
finds the PyTorch functions again. They compute in float32 whatever the dtype of the arrays. The delta rules have the
scale ``K ** -0.5``.
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch
import transformers
from torch.nn import functional
from transformers.models.kimi_linear import modeling_kimi_linear as kimi_linear
from transformers.models.mamba import modeling_mamba as mamba
from transformers.models.mamba2 import modeling_mamba2 as mamba2
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next
from transformers.models.recurrent_gemma import modeling_recurrent_gemma as recurrent_gemma
from transformers.models.rwkv import modeling_rwkv as rwkv
from transformers.models.xlstm import modeling_xlstm as xlstm

from linattn_spec.backend import Backend
from linattn_spec.backends import transformers_mamba

backend = Backend(
    "transformers", version=transformers.__version__, array="torch", profiles=("fp32", "bf16-io", "fp16-io")
)

GROUPED = "Hq == Hk and Hv % Hk == 0"
UNGROUPED = "Hq == Hk == Hv"
FUNCTIONS = (
    ("gated_delta_rule", "chunkwise", qwen3_next, "torch_chunk_gated_delta_rule", GROUPED),
    ("gated_delta_rule", "recurrent", qwen3_next, "torch_recurrent_gated_delta_rule", GROUPED),
    ("kda", "chunkwise", kimi_linear, "chunk_kimi_delta_attention", UNGROUPED),
    ("kda", "recurrent", kimi_linear, "recurrent_kimi_delta_attention", UNGROUPED),
)


def adapter(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(q, k, v, log_decay, beta, initial_state):
        return function(q, k, v, g=log_decay, beta=beta, initial_state=initial_state, output_final_state=True)

    return call


SNIPPET = """\
import inspect
from {module} import {name}

names = {{"q": "query", "k": "key", "v": "value", "log_decay": "g"}}
given = {{names.get(name, name): x for name, x in arguments.items()}}
output, state = inspect.unwrap({name})(**given, output_final_state=True)"""

for _variant, _form, _module, _name, _accepts in FUNCTIONS:
    _snippet = SNIPPET.format(module=_module.__name__, name=_name)
    backend.implements(_variant, _form, _accepts, snippet=_snippet, vjp="autograd")(
        adapter(inspect.unwrap(getattr(_module, _name)))
    )


def gated(function: Callable[..., Any]) -> Callable[..., Any]:
    """With the gates that the layer computes before it."""

    def call(q, k, v, a, b, A_log, dt_bias, initial_state):
        gates = {"g": -A_log.exp() * functional.softplus(a + dt_bias), "beta": b.sigmoid()}
        return function(q, k, v, **gates, initial_state=initial_state, output_final_state=True)

    return call


GATING = (
    ("chunkwise", qwen3_next.torch_chunk_gated_delta_rule),
    ("recurrent", qwen3_next.torch_recurrent_gated_delta_rule),
)
for _form, _function in GATING:
    backend.implements("sigmoid_gating_delta_rule", _form, GROUPED, vjp="autograd")(gated(inspect.unwrap(_function)))


def convolution(update: Callable[..., Any], tokens: int) -> Callable[..., Any]:
    """Heads and channels are one axis there, before that of the tokens. ``update`` changes the state in place."""

    def call(x, weight, bias, initial_state):
        batch, _, heads, channels = x.shape
        shape = (batch, heads, channels, weight.shape[-1])
        state = torch.zeros(shape) if initial_state is None else initial_state.clone()
        state, kernel = state.flatten(1, 2), (weight.flatten(0, 1), bias.flatten())
        x = x.flatten(2).transpose(1, 2)
        pieces = (x[..., t : t + tokens] for t in range(0, x.shape[-1], tokens))
        output = torch.cat([x[..., :0], *(update(piece, state, *kernel) for piece in pieces)], dim=-1)
        return output.transpose(1, 2).unflatten(2, (heads, channels)), state.view(shape)

    return call


def from_zeros(function: Callable[..., Any]) -> Callable[..., Any]:
    """A whole sequence without a state."""

    def call(x, weight, bias):
        output = function(x.flatten(2).transpose(1, 2), weight.flatten(0, 1), bias.flatten())
        return output.transpose(1, 2).unflatten(2, x.shape[2:]), None

    return call


_update = inspect.unwrap(qwen3_next.causal_conv1d_update)
backend.implements("short_convolution", "recurrent", vjp="autograd")(convolution(_update, 1))
backend.implements("short_convolution", "chunkwise", vjp="autograd")(convolution(_update, 5))
backend.implements("short_convolution", "parallel", vjp="autograd")(
    from_zeros(inspect.unwrap(qwen3_next.causal_conv1d_fn))
)


MAMBA: dict[str, Any] = {"state": "VK", "profiles": ("fp32",)}
backend.implements("mamba", "recurrent", UNGROUPED, **MAMBA)(
    transformers_mamba.selective_steps(inspect.unwrap(mamba.mamba_selective_state_update))
)
backend.implements("mamba", "parallel", UNGROUPED, vjp="autograd", **MAMBA)(
    transformers_mamba.selective_scan(inspect.unwrap(mamba.mamba_selective_scan))
)
MAMBA2: dict[str, Any] = {"state": "VK", "label": "mamba2"}
backend.implements("simple_gla", "chunkwise", GROUPED, vjp="autograd", **MAMBA2)(
    transformers_mamba.chunks(inspect.unwrap(mamba2.mamba2_chunk_scan))
)
backend.implements("simple_gla", "recurrent", GROUPED, profiles=("fp32", "bf16", "fp16"), **MAMBA2)(
    transformers_mamba.tokens(inspect.unwrap(mamba2.mamba2_selective_state_update))
)


def wkv(k, v, log_decay, u, initial_state):
    """RWKV-4. Heads and channels are one axis there, and the decay is exp(-exp(time_decay))."""
    state = None if initial_state is None else [x.flatten(1) for x in initial_state]
    decay, bonus = (-log_decay).log().flatten(), u.flatten()
    output, state = rwkv.rwkv_linear_attention_cpu(decay, bonus, k.flatten(2), v.flatten(2), state, return_state=True)
    return output.unflatten(2, k.shape[2:]), tuple(x.unflatten(1, k.shape[2:]) for x in state)


def elementwise(scan: Callable[..., Any]) -> Callable[..., Any]:
    """The recurrence of RG-LRU. It is a method that uses nothing of its layer; ``never`` would reset the state."""
    never = torch.zeros(1, dtype=torch.bool)
    return lambda x, log_decay, initial_state: scan(None, x, log_decay, never, initial_state)


def mlstm(function: Callable[..., Any]) -> Callable[..., Any]:
    """xLSTM takes the forget gate before its sigmoid, and whole chunks alone. Its eps is no part of mLSTM. Of half
    precision nothing is promised: the recurrence rounds its writes to it, and chunks refuse it.
    """

    def call(q, k, v, log_decay, log_input, initial_state):
        forget = log_decay - (-log_decay.expm1()).log()
        S, z, m = initial_state or (None, None, None)
        chunk = max(size for size in range(1, 17) if q.shape[2] % size == 0)
        return function(q, k, v, log_input, forget, S, z, m, return_last_states=True, eps=0.0, chunk_size=chunk)

    return call


backend.implements("rwkv4", "recurrent", "Hk == Hv", vjp="autograd")(wkv)
backend.implements("linear_recurrence", "recurrent", gate="linear", vjp="autograd")(
    elementwise(recurrent_gemma.RecurrentGemmaRglru._rnn_scan)
)
for _form, _name in (
    ("recurrent", "mlstm_recurrent_sequence_native"),
    ("chunkwise", "mlstm_chunkwise_native_autograd"),
):
    backend.implements("mlstm", _form, UNGROUPED, profiles=("fp32",), layout="BHTD")(mlstm(getattr(xlstm, _name)))
