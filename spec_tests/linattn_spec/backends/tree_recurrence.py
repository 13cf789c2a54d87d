"""tree-recurrence: the PyTorch references of its kernels, token by token, in float64 where the arrays are float64."""

from importlib.metadata import version

import torch
from tree_recurrence import reference

from linattn_spec.backend import Backend, Unsupported

backend = Backend("tree-recurrence", version=version("tree-recurrence"), array="torch", profiles=("fp32", "fp64"))


WITHOUT = ("log_decay",)  # by way of x = v / dt, large terms of it cancel: no fault of the function


@backend.implements("gated_delta_rule", "recurrent", accepts="Hq == Hk and Hv % Hk == 0", vjp="autograd")
def gated_delta_rule(q, k, v, log_decay, beta, scale, initial_state):
    return reference.chunk_gated_delta_rule(
        q, k, v, log_decay, beta, scale=scale, initial_state=initial_state, output_final_state=True
    )


@backend.implements("kda", "recurrent", accepts="Hq == Hk and Hv % Hk == 0", vjp="autograd")
def kda(q, k, v, log_decay, beta, scale, initial_state):
    return reference.chunk_kda(
        q, k, v, log_decay, beta, scale=scale, initial_state=initial_state, output_final_state=True
    )


@backend.implements(
    "simple_gla", "recurrent", accepts="Hv % Hq == 0 and Hv % Hk == 0", state="VK", vjp="autograd", without=WITHOUT
)
def mamba2(q, k, v, log_decay, scale, initial_state):
    """Mamba-2 has log_decay = dt A and writes dt x: with A = -1, dt is -log_decay and x is v / dt."""
    dt = -log_decay
    if not (dt.isfinite() & (dt > 0)).all():
        raise Unsupported("Mamba-2 writes dt x, so that dt = -log_decay must be finite and positive")
    return reference.mamba_chunk_scan_combined(
        v / dt[..., None],
        dt,
        -torch.ones_like(dt[0, 0]),
        k,
        scale * q,
        chunk_size=64,
        initial_states=initial_state,
        return_final_states=True,
    )
