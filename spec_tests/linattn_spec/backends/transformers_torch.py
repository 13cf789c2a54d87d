"""Hugging Face transformers: the delta rules of Qwen3-Next and Kimi Linear as it writes them in PyTorch itself.

Where flash-linear-attention is installed, transformers puts its kernels under the same names; ``unwrap`` finds the
PyTorch functions again. They compute in float32 whatever the dtype of the arrays, with the scale ``K ** -0.5``.
"""

import inspect
from collections.abc import Callable
from typing import Any

import transformers
from transformers.models.kimi_linear import modeling_kimi_linear as kimi_linear
from transformers.models.qwen3_next import modeling_qwen3_next as qwen3_next

from linattn_spec.backend import Backend

backend = Backend(
    "transformers", version=transformers.__version__, array="torch", profiles=("fp32", "bf16-io", "fp16-io")
)

GROUPED = "Hq == Hk and Hv % Hk == 0"
UNGROUPED = "Hq == Hk == Hv"
FUNCTIONS = (
    ("gated_delta_rule", "chunkwise", qwen3_next, "torch_chunk_gated_delta_rule", GROUPED),
    ("gated_delta_rule", "recurrent", qwen3_next, "torch_recurrent_gated_delta_rule", GROUPED),
    ("kda", "chunkwise", kimi_linear, "chunk_kimi_delta_attention", UNGROUPED),
    ("kda", "recurrent", kimi_linear, "recurrent_kimi_delta_attention", UNGROUPED),
)


def adapter(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(q, k, v, log_decay, beta, initial_state):
        return function(q, k, v, g=log_decay, beta=beta, initial_state=initial_state, output_final_state=True)

    return call


SNIPPET = """\
import inspect
from {module} import {name}

names = {{"q": "query", "k": "key", "v": "value", "log_decay": "g"}}
given = {{names.get(name, name): x for name, x in arguments.items()}}
output, state = inspect.unwrap({name})(**given, output_final_state=True)"""

for _variant, _form, _module, _name, _accepts in FUNCTIONS:
    _snippet = SNIPPET.format(module=_module.__name__, name=_name)
    backend.implements(_variant, _form, _accepts, snippet=_snippet)(adapter(inspect.unwrap(getattr(_module, _name))))
