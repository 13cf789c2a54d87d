"""Those that forget without reading: of memories that add up outer products, and of single channels."""

from typing import Any

import torch
from fla.ops import hgrn, lightnet, log_linear_attn, rwkv4, rwkv6, simple_gla
from fla.ops.hgrn.naive import naive_recurrent_hgrn
from fla.ops.log_linear_attn.naive import naive_log_linear_attn
from fla.ops.rwkv6.chunk_naive import naive_chunk_rwkv6
from fla.ops.rwkv6.recurrent_naive import naive_recurrent_rwkv6
from torch.nn import functional

from linattn_spec.backends.fla.foundation import FIXED
from linattn_spec.backends.fla.kernels import (
    CHUNK,
    GROUPED,
    INSIDE,
    NAIVE,
    SIZES,
    UNGROUPED,
    Call,
    adapted,
    guarded,
    kernel,
)
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.profiles import profile

RWKV6: dict[str, Any] = {"names": {"q": "r", "log_decay": "w"}}
STORED = ("fp32", profile("bf16-io").with_dtypes(state="bfloat16"))  # the final state has the dtype of the arrays


def by_channel(function: Call, *more: str) -> Call:
    """Heads and channels are one axis there."""

    def call(x: Any, log_decay: Any, initial_state: Any, **packed: Any) -> Any:
        start = None if initial_state is None else initial_state.flatten(1)
        output, h = guarded(function)(x.flatten(2), log_decay.flatten(2), start, True, **packed)
        return output.unflatten(2, x.shape[2:]), h.unflatten(1, x.shape[2:])

    return with_signature(call, ["x", "log_decay", "initial_state", *more])


def wkv(k, v, log_decay, u, initial_state):
    """The decay is exp(-exp(w)). Its state is one array, N, D and m along the second axis, and always given."""
    empty = k.new_zeros(k[:, 0].shape)
    state = torch.stack(initial_state or (empty, empty, empty - torch.inf), dim=1)[:, :, None]
    w, u = (-log_decay).log().flatten(), u.flatten()
    output, state = guarded(rwkv4.fused_recurrent_rwkv4)(w, u, k.flatten(2), v.flatten(2), state.flatten(3))
    return output.unflatten(2, k.shape[2:]), tuple(state[:, :, 0].unflatten(2, k.shape[2:]).unbind(1))


def softmax_over_time(function: Call) -> Call:
    """Its state has y = m + log n in place of n and m, along time like the keys."""

    def call(q, k, v, scale, initial_state, cu_seqlens):
        S, n, m = initial_state or (None, None, None)
        start = None if n is None else (S, (m + n.log())[:, None])
        output, (S, y) = guarded(function)(q, k, v, scale, start, True, cu_seqlens=cu_seqlens)
        return output, (S, torch.ones_like(y[:, 0]), y[:, 0])

    return call


def whole_chunks(q, k, v, log_decay, u, scale):
    """From zeros, without a scale, in chunks of which the sequence has a whole number."""
    chunk = max(size for size in range(1, 33) if q.shape[2] % size == 0)
    return naive_chunk_rwkv6(scale * q, k, v, log_decay, u, chunk), None


def in_levels(function: Call, *more: str) -> Call:
    """It wants a level for every bit of the length: those beyond ours are our last. Its state has other levels, of
    chunks, and the tokens of the last chunk: none is exchanged.
    """

    def call(q: Any, level_scale: Any, log_decay: Any, **given: Any) -> Any:
        lacking = max(0, (q.shape[1] - 1).bit_length() + 1 - level_scale.shape[-1])
        scales = torch.cat([level_scale, level_scale[..., -1:].expand(*level_scale.shape[:-1], lacking)], dim=-1)
        output = guarded(function)(q, g=log_decay, level_scales=scales, **given)
        return output[0] if isinstance(output, tuple) else output, None

    return with_signature(call, ["q", "k", "v", "log_decay", "level_scale", "scale", *more])


def padded(q, k, v, log_decay, level_scale, scale, cu_seqlens):
    """It wants multiples of 64 keys and a power of two of values."""
    keys, values = -k.shape[-1] % 64, (1 << (v.shape[-1] - 1).bit_length()) - v.shape[-1]
    q, k, v = (functional.pad(x, (0, more)) for x, more in ((q, keys), (k, keys), (v, values)))
    call = in_levels(log_linear_attn.chunk_log_linear_attn)
    output, _ = call(q=q, k=k, v=v, log_decay=log_decay, level_scale=level_scale, scale=scale, cu_seqlens=cu_seqlens)
    return output[..., : output.shape[-1] - values], None


KERNELS = (
    # These are what the functions of lightning attention call, with slopes of their own.
    kernel("lightning_attention", "recurrent", simple_gla.fused_recurrent_simple_gla, **INSIDE | FIXED),
    kernel("lightning_attention", "chunkwise", simple_gla.chunk_simple_gla, **CHUNK | FIXED),
    kernel("rwkv6", "recurrent", rwkv6.fused_recurrent_rwkv6, **INSIDE | RWKV6),
    kernel("rwkv6", "chunkwise", rwkv6.chunk_rwkv6, UNGROUPED + SIZES, chunk_size=64, **CHUNK | RWKV6),
    kernel("rwkv6", "recurrent", naive_recurrent_rwkv6, names={"log_decay": "w"}, layout="BHTD", **NAIVE),
    adapted("rwkv6", "chunkwise", whole_chunks, layout="BHTD", **NAIVE),
    adapted("rwkv4", "recurrent", wkv, "Hk == Hv", profiles=STORED),
    adapted("linear_recurrence", "recurrent", by_channel(hgrn.fused_recurrent_hgrn, "cu_seqlens"), profiles=STORED),
    adapted("linear_recurrence", "chunkwise", by_channel(hgrn.chunk_hgrn), label="chunk", without=("initial_state",)),
    adapted("linear_recurrence", "recurrent", by_channel(naive_recurrent_hgrn), **NAIVE),
    # Without gradients: by n and by m there is none, but one by their one number y.
    adapted("lightnet", "recurrent", softmax_over_time(lightnet.fused_recurrent_lightnet), vjp=""),
    adapted("lightnet", "chunkwise", softmax_over_time(lightnet.chunk_lightnet), label="chunk", vjp=""),
    adapted("log_linear_simple_gla", "chunkwise", padded, GROUPED, label="chunk"),
    adapted("log_linear_simple_gla", "parallel", in_levels(naive_log_linear_attn), GROUPED, **NAIVE),
)
