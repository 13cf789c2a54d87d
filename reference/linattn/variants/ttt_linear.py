r"""TTT-Linear: a linear model with a layer norm is trained on each token, by mini-batches.

.. math::

    u_t &= \nabla_y\, \tfrac12 \left| \mathrm{LN}(y) - v_t \right|^2 \;\text{at}\; y = W^\top k_t + b \\
    G_t &= G_{t-1} + \eta_t\, k_t u_t^\top, \qquad h_t = h_{t-1} + \eta_t u_t \\
    o_t &= (W - \rho_t G_t)^\top q_t + (b - \rho_t h_t)

All gradients of a mini-batch are taken at the W and b of its start. Where ``start`` is 1 a mini-batch begins: W and b
first become those with which the last token has read, and G and h are 0. v is the target, in the authors' code the
value minus the key; LN has weight gamma and bias beta. The loss is half the squared error, as the gradient in that
code; with the paper's equation (4), which has no half, eta counts twice. The code has a learning rate for each key,
eta, and a factor for each place in the mini-batch, rho; fla has the second alone. The norm of the output is outside:
the authors give q + LN(o), fla o + LN(o).
"""

from dataclasses import replace

import numpy as np

from linattn.algebra import outer, read
from linattn.inputs import BETA, KEY, QUERY, VALUE
from linattn.record import Input, Source, State, Variant


def step(W, b, G, h, last, q, k, v, eta, rho, start, gamma, beta, eps):
    """Sun et al., equation (6) with the gradients of section 2.4: the primal form."""
    W, b = W - (start * last)[..., :, None] * G, b - start * last * h
    G, h = (1 - start)[..., :, None] * G, (1 - start) * h
    u = eta * gradient(read(k, W) + b, v, gamma, beta, eps)  # ERASE
    G, h = G + outer(k, u), h + u  # WRITE
    return (W, b, G, h, rho), read(q, W) - rho * read(q, G) + b - rho * h  # READ


def gradient(y, target, gamma, beta, eps):
    """Of half the squared error of the layer norm of y."""
    centred = y - mean(y)
    deviation = np.sqrt(mean(centred * centred) + eps)
    normal = centred / deviation
    slope = gamma * (gamma * normal + beta - target)
    return (slope - mean(slope) - normal * mean(slope * normal)) / deviation


def mean(x):
    return x.sum(axis=-1, keepdims=True) / x.shape[-1]


RATE = replace(BETA, name="eta", doc="learning rate of the token", domain=(0, np.inf), neutral=None)
VARIANT = Variant(
    name="ttt_linear",
    title="TTT-Linear",
    summary="a linear model with a layer norm, trained on each token by mini-batches",
    step=step,
    parallel=None,
    inputs=(
        QUERY,
        KEY,
        replace(VALUE, doc="target of the training: the value minus the key"),
        RATE,
        replace(RATE, name="rho", doc="factor on all learning rates of the mini-batch, as the token reads", neutral=1),
        replace(RATE, name="start", doc="1 where a mini-batch begins, else 0", domain=(0, 1), typical="one"),
        Input("gamma", "V", "weight of the layer norm", heads="v", role="parameter", typical="positive"),
        Input("beta", "V", "bias of the layer norm", heads="v", role="parameter"),
        Input("eps", "", "added to the variance", domain=(0, np.inf), default=1e-6, role="parameter"),
    ),
    state=(
        State("W", "K V", "weights at the start of the mini-batch"),
        State("b", "V", "bias at the start of the mini-batch"),
        State("G", "K V", "gradients of the weights in this mini-batch, times their learning rates"),
        State("h", "V", "the same of the bias"),
        State("last", "1", "rho of the last token", typical="strength"),
    ),
    mixing=True,
    exact="nothing: there is one form",
    exempt=("neutral",),
    linear=(),
    constraints=(
        "C1  From the empty state the first token may or may not start a mini-batch.",
        "C2  eta = 0 throughout is the linear map W^T q + b.",
        "C3  A mini-batch is a triangular product: o = Q W + b - rho (tril(Q K^T + 1) (eta u)).",
        "C4  gamma = 0 has no gradient: nothing is learnt.",
        "C5  A constant added to W^T k + b in all value channels changes no gradient.",
    ),
    sources=(
        Source(
            "Learning to (Learn at Test Time): RNNs with Expressive Hidden States",
            "Sun et al.",
            2024,
            "2407.04620",
            "equations (4), (6)-(8), section 2.4; layer norm and rates as in the authors' TTTLinear.ttt",
        ),
    ),
    aliases={"fla": "chunk_ttt_linear (eta = 1, rho = eta; output o + LN(o))", "ttt-lm-pytorch": "TTTLinear"},
)
