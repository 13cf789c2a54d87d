"""The backward pass that every fused attention has, p (dp - sum p dp), is right also where a weight is all but 1."""

import numpy as np
import pytest

from linattn.algebra import transpose
from linattn_spec import Backend
from linattn_spec.checks import run_check
from linattn_spec.results import Check


def fox(row_sums: bool):
    """Forgetting attention in single precision, of ungrouped heads, without a loss on the state."""
    backend = Backend("fused", layout="BHTD", log_decay_range=-np.inf)

    @backend.implements("fox", "parallel")
    def call(q, k, v, log_decay, scale, initial_state):
        raise AssertionError("the forward call is no part of the check")

    @backend.vjp("fox", "parallel")
    def vjp(output_cotangent, final_state_cotangent, q, k, v, log_decay, scale, initial_state):
        (old_keys, old_values, kept), g = initial_state, output_cotangent
        keys, values = np.concatenate([old_keys, k], axis=-2), np.concatenate([old_values, v], axis=-2)
        past, queries = kept.shape[-2], np.arange(q.shape[-2])[:, None]
        age = np.arange(keys.shape[-2]) - past  # the number of the token of a key; below 0 in the cache
        since = np.cumsum(log_decay, axis=-1, dtype=np.float32)[..., None]
        before = np.concatenate([-np.log(kept), since], axis=-2)
        scores = scale * (q @ transpose(keys)) + since - transpose(before)
        scores = np.where(age <= queries, scores, -np.inf)
        p = np.exp(scores - scores.max(axis=-1, keepdims=True))
        p = p / p.sum(axis=-1, keepdims=True)
        dp = g @ transpose(values)
        ds = p * (dp - row_sums * (g * (p @ values)).sum(axis=-1, keepdims=True))
        by_key, by_value, by_gate = (
            scale * transpose(ds) @ q,
            transpose(p) @ g,
            transpose(ds.sum(axis=-2)[..., None, :]),
        )
        later = np.cumsum(ds[..., ::-1, :], axis=-2)[..., ::-1, :]  # of all queries from t on
        return {
            "q": scale * ds @ keys,
            "k": by_key[..., past:, :],
            "v": by_value[..., past:, :],
            "log_decay": np.where(age < queries, later, 0).sum(axis=-1),
            "initial_state": (by_key[..., :past, :], by_value[..., :past, :], by_gate[..., :past, :] / kept),
        }

    return backend


@pytest.mark.parametrize("scenario", ["odd-dims", "square", "long", "gates-strong"])
def test_equal_terms_may_be_subtracted(scenario):
    result = run_check(fox(row_sums=True), Check("fox", scenario, "parallel", "fp32", "gradient-output"))
    assert result.status == "pass", result.reason


def test_but_not_left_out():
    result = run_check(fox(row_sums=False), Check("fox", "gates-strong", "parallel", "fp32", "gradient-output"))
    assert result.status == "fail"
