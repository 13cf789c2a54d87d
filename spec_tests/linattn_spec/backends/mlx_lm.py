"""mlx-lm: the gated delta rules written in MLX operations, and the attention form of Mamba-2.

Its Metal kernels, which Apple silicon runs instead for some shapes, are not called.
"""

import mlx.core as mx
from mlx_lm import __version__
from mlx_lm.models.gated_delta import gated_delta_ops
from mlx_lm.models.ssm import ssm_attn

from linattn_spec.backend import Backend, Unsupported

backend = Backend("mlx-lm", version=__version__, array="mlx", state="VK")


WITHOUT = ("log_decay",)  # by way of x = v / dt, large terms of it cancel: no fault of the function


@backend.implements("gated_delta_rule", "recurrent", accepts="Hq == Hk and Hv % Hk == 0", gate="linear", vjp="autograd")
@backend.implements("kda", "recurrent", accepts="Hq == Hk and Hv % Hk == 0", gate="linear", vjp="autograd")
def gated_delta(q, k, v, log_decay, beta, scale, initial_state):
    """``g`` is the decay itself; the caller scales q."""
    return gated_delta_ops(scale * q, k, v, g=log_decay, beta=beta, state=initial_state)


@backend.implements("simple_gla", "chunkwise", accepts="Hq == Hk and Hv % Hk == 0", vjp="autograd", without=WITHOUT)
def mamba2(q, k, v, log_decay, scale, initial_state):
    """Mamba-2 has log_decay = dt A and writes dt x, where dt = softplus(its argument).

    Above 20 softplus is the identity in float32: A is so small that every dt = log_decay / A lies there.
    """
    weakest = -mx.max(log_decay)
    if not weakest.item() > 0 or mx.isinf(log_decay).any().item():
        raise Unsupported("Mamba-2 writes dt x, so that dt = log_decay / A must be finite and positive")
    heads = v.shape[2]
    A_log = mx.full((heads,), mx.log(weakest / 32))
    dt = -log_decay / mx.exp(A_log)
    return ssm_attn(
        v / dt[..., None],
        A_log,
        k,
        scale * q,
        mx.zeros(heads),
        dt,
        mx.zeros(heads),
        state=initial_state,
        time_step_limit=(0.0, float("inf")),
        step=64,
    )
