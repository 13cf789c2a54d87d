"""All variants, family by family, in the order in which the field explains itself."""

from linattn.record import Variant
from linattn.variants import (
    alibi,
    comba,
    cosformer,
    delta_rule,
    deltaformer,
    dplr,
    fox,
    gated_delta_product,
    gated_delta_rule,
    gated_oja,
    gated_rfa,
    gdn2,
    gla,
    hadamard_gated_linear_attention,
    hgrn2,
    iplr,
    kda,
    lightning_attention,
    linear_attention,
    mamba,
    mamba2,
    metala,
    normalised_linear_attention,
    path,
    power_attention,
    preconditioned_gated_delta_rule,
    preconditioned_kda,
    retention,
    rwkv5,
    rwkv6,
    rwkv7,
    simple_gla,
    softmax_attention,
)

SOFTMAX = (softmax_attention, alibi, fox, path, deltaformer)
OUTER_PRODUCTS = (
    linear_attention,
    normalised_linear_attention,
    retention,
    lightning_attention,
    simple_gla,
    gla,
    hadamard_gated_linear_attention,
    hgrn2,
    metala,
    gated_rfa,
    power_attention,
    cosformer,
    mamba,
    mamba2,
    rwkv5,
    rwkv6,
)
DELTA_RULES = (
    delta_rule,
    gated_delta_rule,
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
VARIANTS: tuple[Variant, ...] = tuple(module.VARIANT for module in (*SOFTMAX, *OUTER_PRODUCTS, *DELTA_RULES))


def variant(name: str) -> Variant:
    """The variant of that name. Raises ``ValueError`` with the names there are."""
    for candidate in VARIANTS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"variant must be one of {', '.join(v.name for v in VARIANTS)}; got {name!r}")
