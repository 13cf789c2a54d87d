"""All variants, family by family, in the order in which the field explains itself."""

from linattn import own
from linattn.record import Variant
from linattn.variants import (
    abc,
    alibi,
    comba,
    cosformer,
    delta_rule,
    deltaformer,
    dplr,
    exp_linear_attention,
    fox,
    gated_delta_product,
    gated_delta_rule,
    gated_oja,
    gated_rfa,
    gateloop,
    gdn2,
    gla,
    gru,
    gsa,
    hadamard_gated_linear_attention,
    hgrn,
    hgrn2,
    iplr,
    kda,
    kernel_attention,
    lightnet,
    lightning_attention,
    linear_attention,
    linear_recurrence,
    log_linear_gated_delta_rule,
    log_linear_simple_gla,
    longhorn,
    longhorn_diagonal,
    lru,
    lstm,
    mamba,
    mamba2,
    mamba3,
    mesanet,
    metala,
    min_gru,
    min_lstm,
    mlstm,
    mlstm_sigmoid,
    mlstm_sigmoid_normalised,
    normalised_linear_attention,
    parallax,
    path,
    power_attention,
    preconditioned_gated_delta_rule,
    preconditioned_kda,
    retention,
    retnet,
    rg_lru,
    rnn,
    rwkv4,
    rwkv5,
    rwkv6,
    rwkv7,
    s4d,
    s5,
    short_convolution,
    sigmoid_gating_delta_rule,
    simple_gla,
    slstm,
    softmax_attention,
    stick_breaking,
    strong_log_linear_gated_delta_rule,
    strong_log_linear_simple_gla,
    titans_linear,
    ttt_linear,
    wall,
)

SOFTMAX = (softmax_attention, kernel_attention, alibi, fox, wall, path, deltaformer, parallax, stick_breaking)
OUTER_PRODUCTS = (
    linear_attention,
    normalised_linear_attention,
    retention,
    retnet,
    lightning_attention,
    simple_gla,
    gla,
    hadamard_gated_linear_attention,
    hgrn2,
    metala,
    gateloop,
    gated_rfa,
    power_attention,
    cosformer,
    mamba,
    mamba2,
    mamba3,
    rwkv5,
    rwkv6,
)
DELTA_RULES = (
    delta_rule,
    gated_delta_rule,
    sigmoid_gating_delta_rule,
    kda,
    gated_delta_product,
    comba,
    gdn2,
    gated_oja,
    preconditioned_gated_delta_rule,
    preconditioned_kda,
    iplr,
    dplr,
    rwkv7,
)
SCANS = (short_convolution, linear_recurrence, hgrn, rg_lru, min_gru, min_lstm, s4d, s5, lru)
ANCESTORS = (rnn, lstm, gru)
STABILISED = (rwkv4, exp_linear_attention, lightnet, mlstm, mlstm_sigmoid, mlstm_sigmoid_normalised, slstm)
SLOTS = (abc, gsa)
REGRESSION = (longhorn, longhorn_diagonal, mesanet, titans_linear, ttt_linear)
LOG_LINEAR = (
    log_linear_simple_gla,
    log_linear_gated_delta_rule,
    strong_log_linear_simple_gla,
    strong_log_linear_gated_delta_rule,
)
FAMILIES = (SOFTMAX, OUTER_PRODUCTS, DELTA_RULES, SCANS, ANCESTORS, STABILISED, SLOTS, REGRESSION, LOG_LINEAR)
VARIANTS: tuple[Variant, ...] = tuple(module.VARIANT for family in FAMILIES for module in family)
NAMES = frozenset(variant.name for variant in VARIANTS)


def known() -> tuple[Variant, ...]:
    """Ours, and those that the environment names: see ``linattn.own``."""
    return (*VARIANTS, *own.variants(taken=NAMES))


def variant(name: str) -> Variant:
    """The variant of that name, or in that file (``path.py``). Raises ``ValueError`` with the names there are."""
    if name.endswith(".py"):
        return own.load(name, taken=NAMES)
    for candidate in VARIANTS if name in NAMES else known():
        if candidate.name == name:
            return candidate
    names = ", ".join(candidate.name for candidate in known())
    raise ValueError(f"variant must be one of {names}, or a file with one of yours, path.py; got {name!r}")
