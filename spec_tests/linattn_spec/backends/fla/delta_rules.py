"""The delta rules beyond the first three: gates inside, other erase keys, several writes a token, free transitions."""

from typing import Any

from fla.ops import comba, gated_delta_rule, gated_oja_rule, gdn2, rwkv7
from fla.ops import generalized_delta_rule as generalised
from fla.ops.comba.naive import naive_chunk_comba
from fla.ops.gated_delta_product import chunk_gated_delta_product
from fla.ops.gated_delta_product.naive import naive_recurrent_gated_delta_product
from fla.ops.gdn2.naive import naive_chunk_gdn2, naive_recurrent_gdn2
from fla.ops.generalized_delta_rule.dplr.naive import dplr_chunkwise, dplr_recurrence
from fla.ops.generalized_delta_rule.iplr.naive import iplr_chunkwise, iplr_recurrence
from fla.ops.precond_gated_delta_rule import chunk_precond_gated_delta_rule, fused_recurrent_precond_gated_delta_rule
from fla.ops.precond_kda import fused_recurrent_precond_kda
from fla.ops.precond_kda.chunk import ChunkPrecondKDAFunction
from fla.ops.precond_kda.naive import naive_recurrent_precond_kda

from linattn_spec.backends.fla.kernels import (
    CHUNK,
    FORWARD,
    GROUPED,
    HALF,
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

MORE = ("scale", "initial_state", "cu_seqlens")
UNPACKED = MORE[:2]
GIVEN = ("q", "k", "v", *MORE)


def gates_inside(function: Call, **defaults: Any) -> Call:
    """Its g is our a and its beta our b, both before their activations."""

    def call(a, b, **given):
        inside = {"use_gate_in_kernel": True, "use_beta_sigmoid_in_kernel": True}
        return function(g=a, beta=b, **given, **inside, output_final_state=True)

    return guarded(with_signature(call, ["a", "b", "A_log", "dt_bias", *GIVEN], **defaults))


def several_writes(function: Call, controls: tuple[str, ...] = MORE) -> Call:
    """The writes of a token follow one another along time."""

    def call(q, k, v, log_decay, beta, **given):
        k, v, beta = (x.transpose(2, 3).flatten(1, 2) for x in (k, v, beta))
        count = k.shape[1] // q.shape[1] if q.shape[1] else 1
        return function(q, k, v, log_decay, beta, num_householder=count, output_final_state=True, **given)

    return guarded(with_signature(call, ["q", "k", "v", "log_decay", "beta", *controls]))


def from_kappa(function: Call) -> Call:
    """It reads with a = -kappa and writes with b = a kappa."""

    def call(q, k, v, kappa, a, log_decay, scale, initial_state, cu_seqlens):
        return function(q, log_decay, k, v, -kappa, a * kappa, scale, initial_state, True, cu_seqlens)

    return guarded(call)


PRECONDITIONER = ("log_decay", "beta", "log_decay_atk", "beta_atk", "log_atk_scale", "x", "eps")


def preconditioned(function: Call, controls: tuple[str, ...] = MORE, fixed: dict[str, Any] | None = None) -> Call:
    """The two states are two arguments and two results. In chunks A comes back in the dtype of the keys."""

    def call(log_decay, log_decay_atk, initial_state, **given):
        S, A = initial_state or (None, None)
        gates = {"g": log_decay, "g_atk": log_decay_atk}
        states = {"initial_state": S, "initial_A_state": A, "output_final_state": True}
        output, S, A = function(**gates, **states, **given, **(fixed or {}))
        return output, (S, A.float())

    return guarded(with_signature(call, ["q", "k", "v", *PRECONDITIONER, *controls]))


def in_chunks(q, k, v, g, g_atk, beta_atk, beta, scale, x, eps, log_atk_scale, cu_seqlens, **states):
    """What ``chunk_precond_kda`` calls once it has asked for q and k to be normalised, which it always does."""
    start = (states["initial_state"], states["initial_A_state"], True)
    off = {"use_qk_l2norm": False, "use_gate": False, "A_log": None, "dt_bias": None}
    unused = {"cu_seqlens_cpu": None, "chunk_indices": None, "safe_gate": False, "context": None, "transposed": False}
    return ChunkPrecondKDAFunction.apply(
        *(q, k, v, g, g_atk, beta_atk, beta, scale, *start, *off.values(), cu_seqlens, *unused.values()),
        *(x, eps, log_atk_scale),
    )


PGDN, PKDA = "preconditioned_gated_delta_rule", "preconditioned_kda"
GIVEN_AS_IS = {"use_qk_l2norm_in_kernel": False}
GV = {"log_decay": "gv"}
OJA_HEADS = f"{GROUPED} and V <= 128"
GK = {"log_decay": "gk"}
MULTIPLIED = {"q": "r", "log_decay": "w", "kappa": "kk"}
WHOLE = f"{UNGROUPED} and T % C == 0"
GENERALISED: dict[str, Any] = NAIVE | {"names": GK | {"a": "alpha", "b": "beta"}, "layout": "BHTD"}
KERNELS = (
    *(
        adapted("sigmoid_gating_delta_rule", form, gates_inside(function, **sizes), accepts, **options)
        for form, function, sizes, accepts, options in (
            ("recurrent", gated_delta_rule.fused_recurrent_gated_delta_rule, {}, GROUPED, FORWARD),
            ("chunkwise", gated_delta_rule.chunk_gated_delta_rule, {"chunk_size": 64}, GROUPED + SIZES, CHUNK),
        )
    ),
    kernel("comba", "recurrent", comba.fused_recurrent_comba, GROUPED, **FORWARD),
    kernel("comba", "chunkwise", comba.chunk_comba, GROUPED, **CHUNK),
    kernel("comba", "chunkwise", naive_chunk_comba, chunk_size=64, **NAIVE),
    kernel("gdn2", "recurrent", gdn2.fused_recurrent_gdn2, **FORWARD),
    kernel("gdn2", "chunkwise", gdn2.chunk_gdn2, f"{UNGROUPED} and K <= 256", **CHUNK),
    kernel("gdn2", "recurrent", naive_recurrent_gdn2, **NAIVE),
    kernel("gdn2", "chunkwise", naive_chunk_gdn2, chunk_size=64, **NAIVE),
    adapted("gated_delta_product", "chunkwise", several_writes(chunk_gated_delta_product), **HALF),
    adapted("gated_delta_product", "recurrent", several_writes(naive_recurrent_gated_delta_product, UNPACKED), **NAIVE),
    kernel("gated_oja", "recurrent", gated_oja_rule.fused_recurrent_gated_oja_rule, OJA_HEADS, names=GV, **FORWARD),
    kernel("gated_oja", "chunkwise", gated_oja_rule.chunk_gated_oja_rule, names=GV, **CHUNK),
    kernel("iplr", "recurrent", generalised.fused_recurrent_iplr_delta_rule, **INSIDE),
    kernel("iplr", "chunkwise", generalised.chunk_iplr_delta_rule, **CHUNK | {"vjp": ""}),
    kernel("iplr", "recurrent", iplr_recurrence, **GENERALISED),
    kernel("iplr", "chunkwise", iplr_chunkwise, WHOLE, chunk_size=32, **GENERALISED),
    kernel("dplr", "recurrent", generalised.fused_recurrent_dplr_delta_rule, names=GK, **FORWARD),
    kernel("dplr", "chunkwise", generalised.chunk_dplr_delta_rule, UNGROUPED + SIZES, GK, chunk_size=16, **CHUNK),
    kernel("dplr", "recurrent", dplr_recurrence, **GENERALISED),
    kernel("dplr", "chunkwise", dplr_chunkwise, WHOLE, chunk_size=32, **GENERALISED),
    kernel("rwkv7", "recurrent", rwkv7.fused_mul_recurrent_rwkv7, names=MULTIPLIED, **FORWARD),
    adapted("rwkv7", "recurrent", from_kappa(rwkv7.fused_recurrent_rwkv7), label="dplr", vjp=""),
    adapted("rwkv7", "chunkwise", from_kappa(rwkv7.chunk_rwkv7), **CHUNK),
    *(
        adapted(variant, form, preconditioned(function, fixed=fixed), accepts, **options)
        for variant, form, function, fixed, accepts, options in (
            (PGDN, "recurrent", fused_recurrent_precond_gated_delta_rule, GIVEN_AS_IS, UNGROUPED, FORWARD),
            (PGDN, "chunkwise", chunk_precond_gated_delta_rule, GIVEN_AS_IS, UNGROUPED, CHUNK),
            (PKDA, "recurrent", fused_recurrent_precond_kda, GIVEN_AS_IS, GROUPED, FORWARD),
            (PKDA, "chunkwise", in_chunks, {}, UNGROUPED, CHUNK),
        )
    ),
    adapted(PKDA, "recurrent", preconditioned(naive_recurrent_precond_kda, UNPACKED), **NAIVE),
)
