"""The kernels that must be accepted, by form.

What is not among them, so that the limits are not calibrated for it: a chunk of more tokens than the units take at
once (``ways.WHOLE``, fewer where every channel has weights of its own) with a triangular system or sums of gates in
it, and tokens by the thousand at once where a pair of them has many weights (see ``settings.at_once``).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from linattn.record import Variant
from linattn.variants import gated_delta_rule, retention, simple_gla
from linattn_spec.emulated import routes
from linattn_spec.emulated.kernel import Kernel
from linattn_spec.parts import by_inverse, by_logarithms, by_sums, uses
from linattn_spec.ways import CHUNK, WHOLE

DELTA_RULES = ("delta_rule", "gated_delta_rule", "kda")
FACTORED = (retention.parallel, simple_gla.parallel, gated_delta_rule.parallel)  # all decays are in their products
READ_TWICE = ("metala", "deltaformer")  # where the scale multiplies more than what the queries read
SIZES = (1, 3, 16, 32, 64, 128)  # of chunks
MOST = 256  # chunks of a sequence: emulating more takes long, and sees nothing new


def kernels(variant: Variant, form: str, tokens: int, strongest_gate: float = 0.0) -> list[Kernel]:
    """All that suit a form, a length and gates down to ``strongest_gate``."""
    by_form = {"recurrent": recurrent, "chunkwise": chunkwise, "parallel": parallel, "bidirectional": bidirectional}
    return by_form[form](variant, tokens, strongest_gate)


def recurrent(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    found = [Kernel("token by token"), Kernel("sums backwards", order="backwards"), Kernel("fused", fused=True)]
    if variant.name in DELTA_RULES:
        found += [Kernel("one write", step=routes.one_write), Kernel("two writes", step=routes.two_writes)]
    return found + scaled(variant, 0)


def chunkwise(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    sizes = [
        size for size in SIZES if tokens / MOST <= size < 2 * tokens and (size <= CHUNK or not turns_keys(variant))
    ]
    found = [Kernel(f"chunks of {size}", size) for size in sizes]
    found += [Kernel("chunks of 16, sums forwards", 16, "forwards")]
    found += [Kernel("chunks of 64, sums backwards", 64, "backwards")]
    return found + otherwise(variant, 64) + gated(variant, 64, strongest_gate)


def turns_keys(variant: Variant) -> bool:
    """Whether the keys of a cache are the solution of a system: small where writes contradict each other, and the
    longer the chunk, the fewer of its digits are left.
    """
    cache = any("P" in item.axes.split() for item in variant.state)
    return cache and uses(variant, "unit_lower_solve")


def parallel(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    found = [Kernel("parallel", tokens), Kernel("parallel, sums forwards", tokens, "forwards")]
    found += otherwise(variant, tokens)
    return found + (gated(variant, tokens, strongest_gate) if tokens <= WHOLE else [])  # longer sums lose more digits


def bidirectional(variant: Variant, tokens: int, strongest_gate: float) -> list[Kernel]:
    found = [Kernel("as defined", route=0), Kernel("fused", route=0, fused=True)]
    found += [replace(one, route=0) for one in scaled(variant, 0)]
    found += [Kernel(f"otherwise, {order}", order=order, route=1) for order in ("forwards", "backwards")]
    return found


def scaled(variant: Variant, chunk: int) -> list[Kernel]:
    return (
        [Kernel("queries scaled first", chunk, scaled_queries=True)]
        if variant.has("scale") and variant.name not in READ_TWICE
        else []
    )


def otherwise(variant: Variant, chunk: int) -> list[Kernel]:
    """By other ways to compute a part, where the closed form has it."""
    return scaled(variant, chunk) + [
        Kernel(name, chunk, parts=(way,)) for name, way in OTHERWISE.items() if uses(variant, way[0])
    ]


OTHERWISE: dict[str, tuple[str, Callable[..., Any]]] = {
    "triangular inverse": ("unit_lower_solve", by_inverse),
    "scan one by one": ("scan", routes.one_by_one),
    "scan by pairs": ("scan", routes.by_pairs),
    "weights by logarithms": ("softmax_over_time", by_logarithms),
    "shares by sums of logarithms": ("broken", by_sums),
    "shares by sums in base 2": ("broken", routes.shares_in_base_2),
    "conjugate gradients": ("solve", routes.conjugate_gradients),
}


def gated(variant: Variant, chunk: int, strongest_gate: float) -> list[Kernel]:
    """Gates of -inf have no differences, and strong ones no factors."""
    if strongest_gate == float("-inf"):
        return []
    found = [Kernel(name, chunk, parts=(way,)) for name, way in DIFFERENCES.items() if uses(variant, way[0])]
    if strongest_gate >= -1 and variant.parallel in FACTORED:
        parts = ("decays", routes.factors), ("products", routes.products_of_factors)
        found += [Kernel("gates as factors", 16, parts=parts)]
    return found + multiplied(variant, chunk)


DIFFERENCES: dict[str, tuple[str, Callable[..., Any]]] = {
    "gates as differences of sums": ("decays", routes.differences),
    "gates as differences of sums in base 2": ("decays", routes.base_2),
    "weights as differences of sums": ("stabilised", routes.stabilised_differences),
}


def multiplied(variant: Variant, chunk: int) -> list[Kernel]:
    """Of the same gate at every token."""
    gates = [item for item in variant.inputs if item.name in ("log_decay", "slope")]
    constant = gates and uses(variant, "decays") and all(item.time is None for item in gates)
    return [Kernel("gates as powers", chunk, parts=(("decays", routes.powers),))] if constant else []
