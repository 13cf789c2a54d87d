"""Slots, regressions and test-time training: what is no memory of one matrix."""

from typing import Any

import torch
from fla.ops.abc.naive import naive_cumsum_abc, naive_recurrent_abc
from fla.ops.gsa import chunk_gsa, fused_recurrent_gsa
from fla.ops.gsa.naive import naive_recurrent_gsa
from fla.ops.mesa_net import naive_mesa_net_exact
from fla.ops.momentum_delta_rule import chunk_momentum_delta_rule, fused_recurrent_momentum_delta_rule
from fla.ops.ttt.chunk import ChunkTTTLinearFunction

from linattn_spec.backend import Unsupported
from linattn_spec.backends.fla.kernels import (
    CHUNK,
    INSIDE,
    KERNEL,
    NAIVE,
    OUTPUTS,
    SHARED,
    SIZES,
    UNGROUPED,
    Call,
    own,
)

PLAIN: dict[str, Any] = NAIVE | {"profiles": ("fp32", "fp16", "bf16")}  # PyTorch all through, on every device
CHUNKS: dict[str, Any] = NAIVE | {"profiles": ("fp16", "bf16")}  # the same, but it refuses float32


def slots(function: Call, rounded: bool = False) -> Call:
    """Their keys lie along the slots. Where s is multiplied with what is rounded, it has that dtype."""

    def call(q, k, v, s, scale, log_decay, initial_state, **options):
        start = initial_state and (initial_state[0].mT.contiguous(), initial_state[1])
        output, (keys, values) = function(
            q, k, v, s.to(q.dtype) if rounded else s, log_decay, scale, start, True, **options
        )
        return output, (keys.mT, values)

    return call


def cumsum(q, k, v, s, scale):
    return naive_cumsum_abc(scale * q.shape[-1] ** 0.5 * q, k, v, s)


def exact(q, k, v, log_decay, beta, lamb, initial_state):
    S, H = initial_state or (None, None)
    output, H, S = naive_mesa_net_exact(q, k, v, log_decay, lamb, beta, H, S)
    return output, (S, H)


def momentum(function: Call) -> Call:
    """Their momentum is minus ours."""

    def call(q, k, v, log_decay, log_momentum, theta, initial_state, **options):
        start = initial_state and torch.stack([initial_state[0], -initial_state[1]])
        gates = {"log_alpha": log_decay, "log_mu": log_momentum, "eta": theta, "scale": 1.0}
        fixed = {"use_qk_l2norm_in_kernel": False, "use_p_times_alpha": False, "output_final_state": True}
        output, (S, M) = function(q, k, v, **gates, **fixed, initial_state=start, **options)
        return output, (S, -M)

    return call


def trained(q, k, v, eta, rho, start, gamma, beta, eps, initial_state, cu_seqlens):
    """The two rates act as one where each token is a mini-batch: here 16 times, at a sixteenth of the rate, for what it
    leaves of a mini-batch that is not full counts the tokens that are missing. The norm of the output is outside.
    """
    if not (start == 1).all():
        raise Unsupported("a mini-batch has one token here, for learning rates of tokens are not theirs")
    weights = bias = None
    if initial_state is not None:
        W, b, G, h, last = initial_state
        weights, bias = W - last[..., None] * G, (b - last * h)[:, :, None].contiguous()
    q, k, v, rate = (x.repeat_interleave(16, 1) for x in (q, k, v + k, (eta * rho / 16).to(q.dtype)[..., None]))
    borders = None if cu_seqlens is None else 16 * cu_seqlens
    given = (q, k, v, gamma, beta, 16, rate, 1.0, eps, weights, bias, False, borders, None)
    return ChunkTTTLinearFunction.apply(*given)[0][:, 15::16], None


SLOTS = "q k v log_decay s scale initial_state"
TITANS = "q k v log_decay log_momentum theta initial_state"
TTT = "q k v eta rho start gamma beta eps initial_state cu_seqlens"
KERNELS = (
    own("gsa", "recurrent", f"{SLOTS} cu_seqlens", slots(fused_recurrent_gsa), **INSIDE),
    own("gsa", "chunkwise", f"{SLOTS} cu_seqlens", slots(chunk_gsa, True), SHARED + SIZES, **CHUNK),
    own("gsa", "recurrent", SLOTS, slots(naive_recurrent_gsa), SHARED, **NAIVE),
    own("abc", "recurrent", "q k v s scale", naive_recurrent_abc, layout="BHTD", **NAIVE),
    own("abc", "parallel", "q k v s scale", cumsum, layout="BHTD", **NAIVE),
    own("mesanet", "recurrent", "q k v log_decay beta lamb initial_state", exact, f"{UNGROUPED} and K == V", **NAIVE),
    own("titans_linear", "recurrent", TITANS, momentum(fused_recurrent_momentum_delta_rule), **PLAIN),
    own("titans_linear", "chunkwise", TITANS, momentum(chunk_momentum_delta_rule), UNGROUPED + SIZES, **CHUNKS),
    own("ttt_linear", "recurrent", TTT, trained, f"{UNGROUPED} and K == V", **KERNEL | OUTPUTS),
)
