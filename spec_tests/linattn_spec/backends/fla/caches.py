"""Caches under a softmax, or broken as a stick: the attentions whose state grows."""

import math
from functools import partial
from itertools import pairwise

import torch
from fla.ops import attn
from fla.ops.attn.decoding import attn_decoding_one_step
from fla.ops.forgetting_attn import naive_forgetting_attn, parallel_forgetting_attn
from fla.ops.parallax import naive_parallax, parallel_parallax
from fla.ops.parallax.decode import parallax_decode_one_step
from fla.ops.path_attn import naive_path_attn, parallel_path_attn
from fla.ops.stickbreaking_attn import naive_stickbreaking_attn, parallel_stickbreaking_attn
from fla.ops.wall_attn import (
    build_wall_kv_cache,
    naive_wall_attn,
    parallel_wall_attn,
    parallel_wall_attn_decode,
)

from linattn_spec.backends.fla.kernels import (
    FRESH,
    KERNEL,
    NAIVE,
    OUTPUTS,
    ROUNDED,
    SHARED,
    STEP,
    TILES,
    Call,
    own,
)


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


def wall(function: Call) -> Call:
    """Its gates are those of the query heads."""

    def call(q, k, v, log_decay, scale, initial_state, **options):
        g = log_decay.repeat_interleave(q.shape[2] // k.shape[2], 2)
        return cached(function, own_keys=True)(q, k, v, initial_state, g=g, scale=scale, **options)

    return call


def from_rescaled_keys(q, k, v, g, scale):
    """The step of decoding at every token. Its cache has the keys as the first of each block of 16 would find them."""
    outputs, total = [v[:, :0, :1].expand(-1, -1, q.shape[2], -1)], g.cumsum(1) / math.log(2)
    for t in range(q.shape[1]):
        now, seen = slice(t, t + 1), slice(t + 1)
        cache = build_wall_kv_cache(k[:, seen], total[:, seen], 16)
        current = q[:, now].contiguous(), v[:, seen].contiguous(), total[:, now].contiguous()
        outputs.append(parallel_wall_attn_decode(*current, *cache, None, scale, 16)[0])
    return torch.cat(outputs, 1)


def stepwise(q, r, k, v, scale):
    """The step of decoding at every token."""
    outputs = [q[:, :0]]
    for t in range(q.shape[1]):
        now, seen = slice(t, t + 1), slice(t + 1)
        outputs.append(parallax_decode_one_step(q[:, now], r[:, now], k[:, seen], v[:, seen], scale))
    return torch.cat(outputs, 1)


def broken(function: Call) -> Call:
    """It returns what is left of the stick as well."""
    return cached(lambda **given: function(**given)[0])


CACHED = "q k v scale initial_state"
GATED = "q k v log_decay scale initial_state"
PATH = "q k v w beta log_decay scale initial_state"
SLOPE = "q r k v scale initial_state"
ALIKE = f"{SHARED} and K == V"
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
    own("wall", "recurrent", GATED, wall(from_rescaled_keys), SHARED, **STEP),
    own("wall", "parallel", f"{GATED} cu_seqlens", wall(parallel_wall_attn), SHARED, **KERNEL),
    own("wall", "parallel", GATED, wall(naive_wall_attn), SHARED, **NAIVE | {"without": ("log_decay",)}),  # no gradient
    own("parallax", "recurrent", SLOPE, cached(stepwise), ALIKE, **STEP),
    own("parallax", "parallel", f"{SLOPE} cu_seqlens", cached(parallel_parallax), ALIKE, **ROUNDED),
    own("parallax", "parallel", SLOPE, cached(naive_parallax), ALIKE, **NAIVE),
    own("parallax", "bidirectional", "q r k v scale", partial(naive_parallax, causal=False), ALIKE, **NAIVE),
    own("stick_breaking", "parallel", f"{CACHED} cu_seqlens", broken(parallel_stickbreaking_attn), SHARED, **KERNEL),
    own("stick_breaking", "parallel", CACHED, broken(naive_stickbreaking_attn), SHARED, **NAIVE),
)
