"""The variants that most others are compared with: their kernels have the arguments of ours."""

from collections.abc import Callable
from typing import Any

from fla.ops import delta_rule, gated_delta_rule, gla, kda, linear_attn, simple_gla
from fla.ops.delta_rule.naive import delta_rule_recurrence
from fla.ops.gla.naive import naive_recurrent_gla
from fla.ops.kda.naive import naive_chunk_kda, naive_recurrent_kda
from fla.ops.linear_attn.naive import naive_recurrent_linear_attn
from fla.ops.simple_gla.naive import naive_chunk_simple_gla, naive_parallel_simple_gla, naive_recurrent_simple_gla

from linattn_spec.backends.fla.kernels import (
    CHUNK,
    FORWARD,
    FUSED,
    GROUPED,
    HALF,
    INSIDE,
    NAIVE,
    OPERANDS,
    SIZES,
    UNGROUPED,
    adapted,
    kernel,
    on_device,
)

PLAIN = {"normalize": False}
FIXED: dict[str, Any] = {"names": {"log_decay": "g_gamma"}, "without": ("log_decay",)}
LOG_DECAY_IS_GK = {"log_decay": "gk"}


def normalised(function: Callable[..., Any]) -> Callable[..., Any]:
    """Its normaliser lies along time, like the keys whose sum it is, and has their dtype."""

    def call(q, k, v, initial_state, cu_seqlens):
        q, k, v, state, cu_seqlens = on_device((q, k, v, initial_state, cu_seqlens))
        start = state and (state[0], state[1][:, None])
        output, (S, z) = function(q, k, v, 1.0, start, True, normalize=True, cu_seqlens=cu_seqlens)
        return output, (S, z[:, 0])

    return call


KERNELS = (
    kernel("linear_attention", "recurrent", linear_attn.fused_recurrent_linear_attn, fixed=PLAIN, **INSIDE),
    kernel("linear_attention", "chunkwise", linear_attn.chunk_linear_attn, fixed=PLAIN, **CHUNK),
    kernel("linear_attention", "chunkwise", linear_attn.fused_chunk_linear_attn, fixed=PLAIN, **FUSED),
    kernel("linear_attention", "recurrent", naive_recurrent_linear_attn, fixed=PLAIN, **NAIVE),
    # These are what the functions of retention call, each with decays of its own.
    kernel("retention", "recurrent", simple_gla.fused_recurrent_simple_gla, **INSIDE | FIXED),
    kernel("retention", "chunkwise", simple_gla.chunk_simple_gla, **CHUNK | FIXED),
    kernel("retention", "chunkwise", simple_gla.fused_chunk_simple_gla, **FUSED | FIXED),
    kernel("simple_gla", "recurrent", simple_gla.fused_recurrent_simple_gla, **INSIDE),
    kernel("simple_gla", "chunkwise", simple_gla.chunk_simple_gla, UNGROUPED + SIZES, chunk_size=64, **CHUNK),
    kernel("simple_gla", "chunkwise", simple_gla.fused_chunk_simple_gla, **FUSED),
    kernel("simple_gla", "parallel", simple_gla.parallel_simple_gla, profiles=OPERANDS),
    kernel("simple_gla", "recurrent", naive_recurrent_simple_gla, **NAIVE),
    kernel("simple_gla", "chunkwise", naive_chunk_simple_gla, chunk_size=64, **NAIVE),
    kernel("simple_gla", "parallel", naive_parallel_simple_gla, **NAIVE),
    kernel("gla", "recurrent", gla.fused_recurrent_gla, names=LOG_DECAY_IS_GK, **INSIDE),
    kernel("gla", "chunkwise", gla.chunk_gla, **CHUNK),
    kernel("gla", "recurrent", naive_recurrent_gla, names=LOG_DECAY_IS_GK, **NAIVE),
    kernel("delta_rule", "recurrent", delta_rule.fused_recurrent_delta_rule, **INSIDE),
    kernel("delta_rule", "chunkwise", delta_rule.chunk_delta_rule, UNGROUPED + SIZES, chunk_size=64, **HALF),
    kernel("delta_rule", "recurrent", delta_rule_recurrence, layout="BHTD", **NAIVE),
    kernel("gated_delta_rule", "recurrent", gated_delta_rule.fused_recurrent_gated_delta_rule, GROUPED, **FORWARD),
    kernel(
        "gated_delta_rule",
        "chunkwise",
        gated_delta_rule.chunk_gated_delta_rule,
        GROUPED + SIZES,
        chunk_size=64,
        **CHUNK,
    ),
    kernel("gated_delta_rule", "recurrent", gated_delta_rule.naive_recurrent_gated_delta_rule, **NAIVE),
    kernel("gated_delta_rule", "chunkwise", gated_delta_rule.naive_chunk_gated_delta_rule, chunk_size=64, **NAIVE),
    kernel("kda", "recurrent", kda.fused_recurrent_kda, GROUPED, **FORWARD),
    kernel("kda", "chunkwise", kda.chunk_kda, f"{GROUPED} and C in (32, 64)", chunk_size=64, **CHUNK),
    kernel("kda", "recurrent", naive_recurrent_kda, GROUPED, **NAIVE),
    kernel("kda", "chunkwise", naive_chunk_kda, f"{GROUPED} and T % C == 0", chunk_size=64, **NAIVE),
    *(
        adapted("normalised_linear_attention", form, normalised(function), label=label)
        for form, label, function in (
            ("recurrent", "", linear_attn.fused_recurrent_linear_attn),
            ("chunkwise", "chunk", linear_attn.chunk_linear_attn),
            ("chunkwise", "fused-chunk", linear_attn.fused_chunk_linear_attn),
        )
    ),
)
