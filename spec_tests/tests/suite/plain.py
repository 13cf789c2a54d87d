"""The gated delta rule as plain loops over (B, H, T, D) that check nothing, for tests of what callers get wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec import Backend
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.checks import run_check
from linattn_spec.results import Check, Result

NAMES = ["q", "k", "v", "log_decay", "beta", "scale", "initial_state"]


def plain(q: Any, k: Any, v: Any, log_decay: Any, beta: Any, scale: float, initial_state: Any) -> Any:
    """A copy of the state goes in; sizes are those of k and v, and what others have too much of is not looked at."""
    state, outputs = initial_state.copy(), []
    (batch, _, tokens, _) = k.shape
    for t in range(min(tokens, v.shape[2])):
        state = state[:batch] * np.exp(log_decay[:batch, :, t, None, None])
        wrong = v[:batch, :, t] - np.einsum("bhk,bhkv->bhv", k[:, :, t], state)
        state = state + k[:, :, t, :, None] * (beta[:batch, :, t, None] * wrong)[:, :, None, :]
        outputs.append(np.float32(scale) * np.einsum("bhk,bhkv->bhv", q[:, :, t], state))
    return np.stack(outputs, axis=2), state


def judged(call: Callable[..., Any], kind: str, scenario: str = "odd-dims", **described: Any) -> Result:
    """One check of a function of (B, H, T, D)."""
    backend = Backend("mine", layout="BHTD", **described)
    backend.implements("gated_delta_rule", "recurrent")(with_signature(call, NAMES))
    return run_check(backend, Check("gated_delta_rule", scenario, "recurrent", "fp32", kind))
