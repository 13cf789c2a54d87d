"""One-node ONNX models of the operator ``LinearAttention``, and its variants as functions of a backend.

The update rules are ``linear``, ``gated``, ``delta`` and ``gated_delta``. A decay per head or per key channel tells
simple GLA from GLA and the gated delta rule from KDA; one that never changes is retention. Opset 27 of the standard
domain; ``com.microsoft`` has an operator of the same name.
"""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from onnx import helper

from linattn_spec.backend import Backend, Unsupported

RULES = {
    "linear_attention": "linear",
    "retention": "gated",
    "simple_gla": "gated",
    "gla": "gated",
    "delta_rule": "delta",
    "gated_delta_rule": "gated_delta",
    "kda": "gated_delta",
}
NAMES = ("query", "key", "value", "past_state", "decay", "beta")
OPSET, IR_VERSION = 27, 10

Signature = tuple[tuple[str, int, tuple[int, ...]], ...]
Attributes = tuple[tuple[str, Any], ...]
Runner = Callable[[dict[str, np.ndarray]], Any]


@lru_cache(maxsize=256)
def model(domain: str, signature: Signature, attributes: Attributes) -> Any:
    """A model of one node; absent inputs have an empty name."""
    types = {name: elem_type for name, elem_type, _ in signature}
    slots = [name if name in types else "" for name in NAMES]
    node = helper.make_node("LinearAttention", slots, ["output", "present_state"], domain=domain, **dict(attributes))
    inputs = [helper.make_tensor_value_info(*entry) for entry in signature]
    outputs = [
        helper.make_tensor_value_info("output", types["query"], None),
        helper.make_tensor_value_info("present_state", types.get("past_state", types["query"]), None),
    ]
    imports = [helper.make_opsetid("", OPSET)] + [helper.make_opsetid(domain, 1)] * bool(domain)
    return helper.make_model(
        helper.make_graph([node], "g", inputs, outputs), opset_imports=imports, ir_version=IR_VERSION
    )


def register(
    backend: Backend, domain: str, runner: Callable[[Any], Runner], run: str, accepts: str = "", label: str = ""
) -> None:
    """All variants that the operator covers."""
    for variant, rule in RULES.items():
        snippet = SNIPPET.format(domain=domain, rule=rule, opset=OPSET, ir=IR_VERSION, run=run)
        backend.implements(variant, "recurrent", accepts, label=label, snippet=snippet)(adapter(domain, rule, runner))


def adapter(domain: str, rule: str, runner: Callable[[Any], Runner]) -> Callable[..., Any]:
    def linear(q, k, v, scale, initial_state):
        return call(domain, rule, runner, q, k, v, scale, initial_state)

    def gated(q, k, v, log_decay, scale, initial_state):
        if log_decay.ndim == 1:  # retention: the decay of a head is that of all its tokens
            log_decay = np.broadcast_to(log_decay, (*q.shape[:2], len(log_decay)))
        return call(domain, rule, runner, q, k, v, scale, initial_state, decay=log_decay)

    def delta(q, k, v, beta, scale, initial_state):
        return call(domain, rule, runner, q, k, v, scale, initial_state, beta=beta)

    def gated_delta(q, k, v, log_decay, beta, scale, initial_state):
        return call(domain, rule, runner, q, k, v, scale, initial_state, decay=log_decay, beta=beta)

    adapters: dict[str, Callable[..., Any]] = {
        "linear": linear,
        "gated": gated,
        "delta": delta,
        "gated_delta": gated_delta,
    }
    return adapters[rule]


def call(domain: str, rule: str, runner: Any, q: Any, k: Any, v: Any, scale: float, state: Any, **gates: Any) -> Any:
    """The operator on (B, T, H, D): ``(output, present_state)``."""
    batch, tokens, query_heads, _ = q.shape
    heads, width = v.shape[2:]
    if scale == 0:
        raise Unsupported("the operator reads scale = 0 as 1/sqrt(K)")
    if state is None and q.dtype == np.float16:  # without a past_state the state comes back in float16
        state = np.zeros((batch, heads, q.shape[3], width), dtype=np.float32)
    given = {"query": q, "key": k, "value": v, "past_state": state, **gates}
    feed = {n: x if n == "past_state" else flat(x) for n, x in given.items() if x is not None}
    signature = tuple(
        (name, helper.np_dtype_to_tensor_dtype(feed[name].dtype), feed[name].shape) for name in NAMES if name in feed
    )
    attributes = (("kv_num_heads", heads), ("q_num_heads", query_heads), ("scale", scale), ("update_rule", rule))
    output, present = cached(runner, domain, signature, attributes)(feed)
    return output.reshape(batch, tokens, max(query_heads, heads), width), present


def flat(x: np.ndarray) -> np.ndarray:
    """(B, T, H, D) to (B, T, H D)."""
    return np.ascontiguousarray(x.reshape(*x.shape[:2], math.prod(x.shape[2:])))


@lru_cache(maxsize=256)
def cached(runner: Callable[[Any], Runner], domain: str, signature: Signature, attributes: Attributes) -> Runner:
    return runner(model(domain, signature, attributes))


SNIPPET = """\
from onnx import helper

names = {{"q": "query", "k": "key", "v": "value", "initial_state": "past_state", "log_decay": "decay", "beta": "beta"}}
given = {{name: arguments[key] for key, name in names.items() if arguments.get(key) is not None}}
if "decay" in given and given["decay"].ndim == 1:
    given["decay"] = np.broadcast_to(given["decay"], (*given["query"].shape[:2], len(given["decay"])))
(B, T, Hq, K), (H, V) = given["query"].shape, given["value"].shape[2:]
feed = {{name: x if name == "past_state" else x.reshape(B, T, -1) for name, x in given.items()}}
inputs = [
    helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for name, x in feed.items()
]
types = {{x.name: x.type.tensor_type.elem_type for x in inputs}}
outputs = [
    helper.make_tensor_value_info("output", types["query"], None),
    helper.make_tensor_value_info("present_state", types.get("past_state", types["query"]), None),
]
node = helper.make_node(
    "LinearAttention", [name if name in feed else "" for name in names.values()], ["output", "present_state"],
    domain="{domain}", update_rule="{rule}", q_num_heads=Hq, kv_num_heads=H, scale=arguments["scale"],
)
imports = [helper.make_opsetid("", {opset}), helper.make_opsetid("com.microsoft", 1)]
model = helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=imports, ir_version={ir})
{run}
output = output.reshape(B, T, max(Hq, H), V)
"""
