"""All variants, in the order in which the field explains itself."""

from linattn.record import Variant
from linattn.variants import (
    delta_rule,
    gated_delta_rule,
    gla,
    kda,
    linear_attention,
    normalised_linear_attention,
    retention,
    simple_gla,
    softmax_attention,
)

VARIANTS: tuple[Variant, ...] = (
    softmax_attention.VARIANT,
    linear_attention.VARIANT,
    normalised_linear_attention.VARIANT,
    retention.VARIANT,
    simple_gla.VARIANT,
    gla.VARIANT,
    delta_rule.VARIANT,
    gated_delta_rule.VARIANT,
    kda.VARIANT,
)


def variant(name: str) -> Variant:
    """The variant of that name. Raises ``ValueError`` with the names there are."""
    for candidate in VARIANTS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"variant must be one of {', '.join(v.name for v in VARIANTS)}; got {name!r}")
