r"""From projections to gates: every parametrisation in use, as the natural logarithm of a decay unless said otherwise.

====================  =======================================  ====================================================
function              log decay                                used by
====================  =======================================  ====================================================
sigmoid_gate          logsigmoid(x) / tau                      GLA, simple GLA, YOCO (tau = 16), GSA (8), HGRN2,
                                                               FoX, PaTH, MesaNet (1): all in fla
softplus_gate         -exp(A_log) softplus(x + dt_bias)        Mamba-2, Gated DeltaNet, KDA
bounded_gate          L sigmoid(exp(A_log) (x + dt_bias))      KDA with a lower bound, L = -5
double_exponential    -exp(w)                                  RWKV-4, RWKV-5, RWKV-6; |lambda| of the LRU
rwkv7_gate            -exp(-1/2) sigmoid(w)                    RWKV-7
bounded_sigmoid_gate  log(l + (1 - l) sigmoid(x))              HGRN, HGRN2 above the first layer
rg_lru_gate           -8 sigmoid(x) softplus(Lambda)           Griffin, RecurrentGemma
``linattn.slopes``    fixed rates per head                     RetNet, TransNormer, ALiBi
====================  =======================================  ====================================================

All are at most 0, and none overflows but ``double_exponential``, whose value is then -inf: a decay of 0. Where a
library takes the decay itself, it is the exponential of these.

Places in papers: GSA (arXiv:2409.07146), footnote 4; FoX (arXiv:2503.02130), section 3; PaTH-FoX (arXiv:2505.16381),
section 2.2; Mamba (arXiv:2312.00752), algorithm 2; LRU (arXiv:2303.06349), section 3.3; RWKV-5 and 6
(arXiv:2404.05892), sections 4.1.2 and 4.2.2. The papers of Mamba-2 and Gated DeltaNet do not print their gate.
"""

from typing import Any

import numpy as np

from linattn.activations import log_add_exp, logsigmoid, sigmoid, softplus

Array = Any


def sigmoid_gate(x: Array, temperature: Any = 1) -> Array:
    """log of sigmoid(x)^(1/tau). Yang et al. 2023, arXiv:2312.06635, section 4.4: tau = 16."""
    return logsigmoid(x) / temperature


def softplus_gate(x: Array, A_log: Array, dt_bias: Any = 0) -> Array:
    """-exp(A_log) softplus(x + dt_bias). Mamba calls softplus(x + dt_bias) dt, and its code -exp(A_log) A."""
    return -np.exp(A_log) * softplus(x + dt_bias)


def bounded_gate(x: Array, A_log: Array, dt_bias: Any = 0, lower_bound: Any = -5) -> Array:
    """Between ``lower_bound`` and 0: kernels may then factor the decays of a chunk. As in fla's KDA."""
    return lower_bound * sigmoid(np.exp(A_log) * (x + dt_bias))


def double_exponential(w: Array) -> Array:
    """The log decay of exp(-exp(w)). RWKV-LM's kernels up to RWKV-6 take w, fla's take the result.

    The paper of RWKV-4 (arXiv:2305.13048, section 2.2) has the decay exp(-w) with w >= 0; only its initial values of
    w, from -5 on, are those of the code.
    """
    return -np.exp(w)


def rwkv7_gate(w: Array) -> Array:
    """Above -exp(-1/2) = -0.6065: the decay stays above 0.5452.

    It is ``double_exponential(-softplus(-w) - 1/2)``, as RWKV-LM trains it. Its inference code and fla print
    exp(-1/2) with 6 and 16 digits.
    """
    return -np.exp(0 * w - 0.5) * sigmoid(w)


def bounded_sigmoid_gate(x: Array, lower_bound: Array) -> Array:
    """log(l + (1 - l) sigmoid(x)) for 0 <= l < 1; l = 0 is logsigmoid(x). HGRN (arXiv:2311.04823), section 3.2; HGRN2
    (arXiv:2404.07904), (2).

    Near 1 the decay is 1 - (1 - l) sigmoid(-x), elsewhere (exp(x) + l) / (exp(x) + 1): each has its digits there.
    """
    missing = (1 - lower_bound) * sigmoid(-x)
    near_one = missing <= 0.5
    bounded = lower_bound > 0
    log_bound = np.log(np.where(bounded, lower_bound, 1 + 0 * lower_bound))
    above = np.where(bounded, log_add_exp(x, log_bound), x)
    return np.where(near_one, np.log1p(-np.where(near_one, missing, 0 * missing)), above - softplus(x))


def cumulative_bounds(logits: Array) -> Array:
    """The lower bounds of all layers (layers, D): cumulative sums of a softmax over the layers, without the first
    term, so that the first layer has none and no bound reaches 1. HGRN, section 3.2, and HGRN2, section 2.2; so in fla.
    """
    weights = np.exp(logits - logits.max(axis=0))
    shares = weights / weights.sum(axis=0)
    return np.concatenate([0 * shares[:1], np.cumsum(shares[1:], axis=0)])


def rg_lru_gate(x: Array, Lambda: Array) -> Array:
    """log of sigmoid(-Lambda)^(8 sigmoid(x)), as in the released model.

    In De et al. 2024, arXiv:2402.19427, section 2.4, Lambda has the other sign: a = sigmoid(Lambda). Appendix A then
    writes log sigmoid(Lambda) as -softplus(Lambda), which has the sign of the model.
    """
    return -8 * sigmoid(x) * softplus(Lambda)


def input_normaliser(log_decay: Array) -> Array:
    """sqrt(1 - a^2): the variance of the state then stays that of the input.

    RG-LRU writes with it (Griffin, (4)); in LRU it is the first value of a factor that is learned (section 3.4, (7)).
    """
    return np.sqrt(-np.expm1(2 * log_decay))


def complement(log_decay: Array) -> Array:
    """1 - a: what HGRN, gated RFA, GSA and minGRU write with."""
    return -np.expm1(log_decay)


def soft_cap(x: Array, cap: Any = 15) -> Array:
    """cap tanh(x / cap): between -cap and cap. On the gates of xLSTM-7B."""
    return cap * np.tanh(x / cap)
