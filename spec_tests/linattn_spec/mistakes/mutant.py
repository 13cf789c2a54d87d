"""Mistakes as backends: each one run through the whole suite measures what the suite can see."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from linattn.record import Variant
from linattn.variants import VARIANTS
from linattn_spec import frameworks
from linattn_spec.backend import Backend
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.mistakes.record import Mistake, call_of

EVERYWHERE = tuple((variant, form) for variant in VARIANTS for form in variant.forms)


def mutant(
    mistake: Mistake, profiles: tuple[str, ...] = ("fp32",), only: Iterable[tuple[Variant, str]] = EVERYWHERE
) -> Backend:
    """A backend that makes the mistake in every variant and form to which it applies, in float32 arithmetic."""
    backend = Backend(mistake.id, profiles=profiles, layout="BHTD")
    for variant, form in only:
        if mistake.applies(variant, form):
            backend.implements(variant.name, form)(adapter(mistake, variant, form))
    return backend


def adapter(mistake: Mistake, variant: Variant, form: str) -> Callable[..., Any]:
    narrow = {item.name for item in variant.inputs if item.axes.split()[-1:] == ["1"]}

    def call(initial_state: Any = None, **inputs: Any) -> Any:
        dtype = inputs[variant.inputs[0].name].dtype
        single = {name: x.astype(np.float32) if isinstance(x, np.ndarray) else x for name, x in inputs.items()}
        arrays = {name: x[..., None] if name in narrow else x for name, x in single.items()}
        with np.errstate(all="ignore"):
            results = mistake.wrong(call_of(variant, form, arrays, initial_state))
            output, *state = results.values()
            stored = frameworks.to_array("numpy", frameworks.typed(output, str(dtype)))
            final = tuple(x.astype(np.float32) for x in state)
            return stored if form == "bidirectional" else (stored, final)

    def disturbed(**given: Any) -> Any:
        return mistake.around(call, given) if mistake.around else call(**given)

    controls = ["initial_state", "cu_seqlens"] if "packing" in mistake.seen_by else ["initial_state"]
    return with_signature(disturbed, [*(item.name for item in variant.inputs), *controls])
