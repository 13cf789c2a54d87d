"""The kernels that must be accepted, by form."""

from linattn.record import Variant
from linattn.variants import gated_delta_rule, retention, simple_gla
from linattn_spec.emulated.kernel import Kernel
from linattn_spec.emulated.routes import (
    base_2,
    differences,
    factors,
    one_write,
    powers,
    products_of_factors,
    two_writes,
)
from linattn_spec.parts import by_inverse, uses
from linattn_spec.verdict import WHOLE

DELTA_RULES = ("delta_rule", "gated_delta_rule", "kda")
FACTORED = (retention.parallel, simple_gla.parallel, gated_delta_rule.parallel)  # all decays are in their products
READ_TWICE = ("metala",)  # queries that the scale does not multiply everywhere
SIZES = (1, 3, 16, 32, 64, 128)  # of chunks
MOST = 256  # chunks of a sequence: emulating more takes long, and sees nothing new


def kernels(variant: Variant, form: str, tokens: int, strongest_gate: float = 0.0) -> list[Kernel]:
    """All that suit a causal form, a length and gates down to ``strongest_gate``."""
    by_form = {"recurrent": recurrent, "chunkwise": chunkwise, "parallel": parallel}
    return by_form[form](variant, tokens, strongest_gate)


def recurrent(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    found = [Kernel("token by token"), Kernel("sums backwards", order="backwards"), *scaled(variant, 0)]
    if variant.name in DELTA_RULES:
        found += [Kernel("one write", step=one_write), Kernel("two writes", step=two_writes)]
    return found


def chunkwise(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    found = [Kernel(f"chunks of {size}", size) for size in SIZES if tokens / MOST <= size < 2 * tokens]
    found += [Kernel("chunks of 16, sums forwards", 16, "forwards")]
    found += [Kernel("chunks of 64, sums backwards", 64, "backwards"), *scaled(variant, 64)]
    found += solved(variant, 64) + multiplied(variant, 64, strongest_gate)
    return found + gated(variant, 64, strongest_gate)


def parallel(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    found = [Kernel("parallel", tokens), Kernel("parallel, sums forwards", tokens, "forwards")]
    found += scaled(variant, tokens) + solved(variant, tokens) + multiplied(variant, tokens, strongest_gate)
    return found + (gated(variant, tokens, strongest_gate) if tokens <= WHOLE else [])  # longer sums lose more digits


def scaled(variant: Variant, chunk: int) -> list[Kernel]:
    return (
        [Kernel("queries scaled first", chunk, scaled_queries=True)]
        if variant.has("scale") and variant.name not in READ_TWICE
        else []
    )


def solved(variant: Variant, chunk: int) -> list[Kernel]:
    return [Kernel("triangular inverse", chunk, solve=by_inverse)] if uses(variant, "unit_lower_solve") else []


def gated(variant: Variant, chunk: int, strongest_gate: float) -> list[Kernel]:
    """Gates of -inf have no differences, and strong ones no factors."""
    if not has_decays(variant) or strongest_gate == float("-inf"):
        return []
    found = [Kernel("gates as differences of sums", chunk, decays=differences)]
    found += [Kernel("gates as differences of sums in base 2", chunk, decays=base_2)]
    if strongest_gate >= -1 and variant.parallel in FACTORED:
        found += [Kernel("gates as factors", 16, decays=factors, products=products_of_factors)]
    return found


def multiplied(variant: Variant, chunk: int, strongest_gate: float) -> list[Kernel]:
    constant = has_decays(variant) and variant.input("log_decay").time is None
    finite = strongest_gate > float("-inf")
    return [Kernel("gates as powers", chunk, decays=powers)] if constant and finite else []


def has_decays(variant: Variant) -> bool:
    return variant.has("log_decay") and uses(variant, "decays")
