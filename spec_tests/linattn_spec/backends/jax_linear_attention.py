"""jax-linear-attention: its reference, a scan over tokens, and its chunked form in plain JAX, both float32 inside."""

from collections.abc import Callable
from typing import Any

import jla
from jla.ops import chunked, reference

from linattn_spec.backend import Backend

backend = Backend("jax-linear-attention", version=jla.__version__, array="jax", profiles=("fp32", "bf16-io"))


def gated(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(q, k, v, log_decay, scale, initial_state):
        return function(q, k, v, log_decay, scale=scale, initial_state=initial_state, output_final_state=True)

    return call


def delta(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(q, k, v, beta, scale, initial_state):
        return function(q, k, v, beta, scale=scale, initial_state=initial_state, output_final_state=True)

    return call


def gated_delta(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(q, k, v, log_decay, beta, scale, initial_state):
        return function(q, k, v, log_decay, beta, scale=scale, initial_state=initial_state, output_final_state=True)

    return call


VARIANTS = {"simple_gla": gated, "gla": gated, "delta_rule": delta, "gated_delta_rule": gated_delta, "kda": gated_delta}
SNIPPET = """\
from jla.ops.{form} import {variant}

given = {{"g" if name == "log_decay" else name: x for name, x in arguments.items()}}
output, state = {variant}(**given, output_final_state=True)"""

for _variant, _adapter in VARIANTS.items():
    for _form, _module in (("recurrent", reference), ("chunkwise", chunked)):
        _snippet = SNIPPET.format(form=_module.__name__.split(".")[-1], variant=_variant)
        backend.implements(_variant, _form, "Hq == Hk == Hv", snippet=_snippet, vjp="autograd")(
            _adapter(getattr(_module, _variant))
        )
