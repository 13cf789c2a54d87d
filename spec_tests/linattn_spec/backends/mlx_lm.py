"""mlx-lm: the gated delta rules and RWKV-7 written in MLX operations, the lightning attention of Ring linear, and the
attention form of Mamba-2.

Its Metal kernels, which Apple silicon runs instead for some shapes, are not called.
"""

import mlx.core as mx
from mlx_lm import __version__
from mlx_lm.models import rwkv7
from mlx_lm.models.bailing_moe_linear import recurrent_gla
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


@backend.implements("rwkv7", "recurrent", accepts="Hq == Hk == Hv", gate="linear", vjp="autograd")
def wkv7(q, k, v, log_decay, kappa, a, scale, initial_state):
    """The caller normalises kappa; nothing scales the read."""
    state = mx.zeros((v.shape[0], v.shape[2], v.shape[3], k.shape[3])) if initial_state is None else initial_state
    outputs = []
    for t in range(q.shape[1]):
        token = (x[:, t] for x in (scale * q, log_decay, k, v, -kappa, kappa * a))
        output, state = rwkv7._wkv7_step_ops(*token, state)
        outputs.append(output[..., 0])
    return mx.stack(outputs, axis=1), state


@backend.implements(
    "lightning_attention", "recurrent", accepts="Hq == Hk == Hv", layout="BHTD", state="KV", vjp="autograd"
)
def lightning(q, k, v, log_decay, scale, initial_state):
    return recurrent_gla(q, k, v, log_decay, scale, initial_state)


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
