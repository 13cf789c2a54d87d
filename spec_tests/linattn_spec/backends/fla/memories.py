"""Caches under a softmax, slots, regressions and test-time training: what is no memory of one matrix."""

from functools import partial
from itertools import pairwise
from typing import Any

import torch
from fla.ops import attn
from fla.ops.abc.naive import naive_cumsum_abc, naive_recurrent_abc
from fla.ops.attn.decoding import attn_decoding_one_step
from fla.ops.forgetting_attn import naive_forgetting_attn, parallel_forgetting_attn
from fla.ops.gsa import chunk_gsa, fused_recurrent_gsa
from fla.ops.gsa.naive import naive_recurrent_gsa
from fla.ops.mesa_net import naive_mesa_net_exact
from fla.ops.momentum_delta_rule import chunk_momentum_delta_rule, fused_recurrent_momentum_delta_rule
from fla.ops.path_attn import naive_path_attn, parallel_path_attn
from fla.ops.ttt.chunk import ChunkTTTLinearFunction

from linattn_spec.backend import Unsupported
from linattn_spec.backends.fla.kernels import (
    CHUNK,
    INSIDE,
    NAIVE,
    OPERANDS,
    SIZES,
    UNGROUPED,
    Call,
    Kernel,
    adapted,
    guarded,
)
from linattn_spec.backends.numpy_folds import with_signature

SHARED = "Hk == Hv and Hq % Hk == 0"
TILES = "K in (16, 32, 64, 128) and V in (16, 32, 64, 128)"
KERNEL: dict[str, Any] = {"profiles": OPERANDS}
ROUNDED: dict[str, Any] = {"profiles": OPERANDS[1:]}  # what it multiplies has 16 bits, whatever the arrays have
STEP: dict[str, Any] = KERNEL | {"vjp": ""}  # a kernel of decoding has no backward pass
OUTPUTS: dict[str, Any] = {"vjp": ""}  # a backward pass of other shapes than those of the cases
FRESH: dict[str, Any] = {"without": ("initial_state",)}  # what is kept enters as differences of logarithms: they cancel
PLAIN: dict[str, Any] = NAIVE | {"profiles": ("fp32", "fp16", "bf16")}  # PyTorch all through, on every device
CHUNKS: dict[str, Any] = NAIVE | {"profiles": ("fp16", "bf16")}  # the same, but it refuses float32


def own(variant: str, form: str, names: str, call: Call, accepts: str = UNGROUPED, **options: Any) -> Kernel:
    """``call`` takes the inputs of these names."""
    sizes = {"chunk_size": 64} if "C in" in accepts else {}
    return adapted(variant, form, with_signature(guarded(call), names.split(), **sizes), accepts, **options)


def cached(function: Call, own_keys: bool = False) -> Call:
    """A cache enters as tokens before the first: their queries and strengths are 0, their outputs are dropped.

    It is returned with the new tokens behind it, but not where the keys change.
    """

    def call(q, k, v, initial_state, log_decay=None, cu_seqlens=None, **given):
        if not (k.is_floating_point() and v.is_floating_point()):
            raise TypeError("the cache enters in the dtype of k and v, which must be floating point")
        empty = (x.new_zeros(len(x), x.shape[2], 0, x.shape[3]).float() for x in (k, v, v[..., :1]))
        keys, values, *kept = (x.transpose(1, 2) for x in initial_state or empty)
        for name, x in {"q": q, **given}.items():
            before = x.new_zeros(len(x), keys.shape[1], *x.shape[2:]) if isinstance(x, torch.Tensor) else None
            given[name] = x if before is None else torch.cat([before, x], 1)
        keys, values = torch.cat([keys, k], 1), torch.cat([values, v], 1)
        if log_decay is not None:
            gates, kept[0] = gates_of(kept[0], log_decay)
            given["g"] = gates.repeat_interleave(q.shape[2] // k.shape[2], 2)
        if cu_seqlens is not None:
            given["cu_seqlens"] = cu_seqlens
        output = function(k=keys.to(k.dtype), v=values.to(v.dtype), **given)
        cache = [x.transpose(1, 2) for x in (keys, values, *kept[: log_decay is not None])]
        final = None if own_keys or cu_seqlens is not None else tuple(cache)
        return output[:, keys.shape[1] - k.shape[1] :], final

    return call


def gates_of(kept: torch.Tensor, log_decay: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Gates that leave of every key in the cache what is left of it; and what is left of all keys in the end."""
    past = torch.nn.functional.pad(-kept[..., 0].log(), (0, 0, 1, 1)).diff(dim=1)
    gates = torch.cat([past[:, :-1], log_decay[:, :1] + past[:, -1:], log_decay[:, 1:]], 1)
    later = torch.nn.functional.pad(log_decay[:, 1:], (0, 0, 0, 1))[:, : log_decay.shape[1]]
    later = later.flip(1).cumsum(1).flip(1).exp()[..., None]
    return gates, torch.cat([kept * log_decay.sum(1, keepdim=True).exp()[..., None], later], 1)


def naive_attention(**given):
    return attn.naive_parallel_attn(**given)[0]


def decoded(q, k, v, scale, g=None, cu_seqlens=None):
    """The step of decoding at every token: one query after the keys of each sequence, which are packed."""
    if cu_seqlens is not None:
        pieces = [slice(a, b) for a, b in pairwise(cu_seqlens.tolist())]
        gates = [g if g is None else g[:, t] for t in pieces]
        return torch.cat([decoded(q[:, t], k[:, t], v[:, t], scale, x) for t, x in zip(pieces, gates, strict=True)], 1)
    outputs = [v[:, :0, :1].expand(-1, -1, q.shape[2], -1)]
    for seen in range(1, q.shape[1] + 1):
        cache = [x if x is None else x[:, :seen].flatten(0, 1)[None].contiguous() for x in (k, v, g)]
        borders = torch.arange(0, len(q) * seen + 1, seen, device=q.device)
        outputs.append(attn_decoding_one_step(q[None, :, seen - 1].contiguous(), *cache, scale, borders)[0][:, None])
    return torch.cat(outputs, 1)


def path(function: Call) -> Call:
    """It multiplies the gates by the scale as well. The keys of its own cache have the dtype of the arrays."""

    def call(q, k, v, w, beta, g, scale, **options):
        output = function(q, k, v, w.float(), beta, g / scale, scale, **options)
        return output[0] if isinstance(output, tuple) else output

    return cached(call, own_keys=True)


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


CACHED = "q k v scale initial_state"
GATED = "q k v log_decay scale initial_state"
PATH = "q k v w beta log_decay scale initial_state"
SLOTS = "q k v log_decay s scale initial_state"
TITANS = "q k v log_decay log_momentum theta initial_state"
TTT = "q k v eta rho start gamma beta eps initial_state cu_seqlens"
KERNELS = (
    own("softmax_attention", "recurrent", f"{CACHED} cu_seqlens", cached(decoded), SHARED, **STEP),
    own("softmax_attention", "parallel", f"{CACHED} cu_seqlens", cached(attn.parallel_attn), SHARED, **KERNEL),
    own("softmax_attention", "parallel", CACHED, cached(naive_attention), SHARED, **NAIVE),
    own("softmax_attention", "bidirectional", "q k v scale", partial(naive_attention, causal=False), SHARED, **NAIVE),
    own("fox", "recurrent", f"{GATED} cu_seqlens", cached(decoded), SHARED, **STEP),
    own("fox", "parallel", f"{GATED} cu_seqlens", cached(parallel_forgetting_attn), SHARED, **KERNEL | FRESH),
    own("fox", "parallel", GATED, cached(naive_forgetting_attn), SHARED, **NAIVE | FRESH),
    own(
        "path", "parallel", f"{PATH} cu_seqlens", path(parallel_path_attn), f"{SHARED} and {TILES}", **ROUNDED | OUTPUTS
    ),
    own("path", "parallel", PATH, path(naive_path_attn), SHARED, **NAIVE | FRESH),
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
