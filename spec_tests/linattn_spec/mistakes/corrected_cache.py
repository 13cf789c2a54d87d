"""Softmax attention whose keys are reflected, or whose values are corrected: PaTH, DeltaFormer."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import read, transpose
from linattn_spec.mistakes.distances import KEPT, of
from linattn_spec.mistakes.moved import shifted
from linattn_spec.mistakes.record import Array, Call, Results, right, with_all_heads, with_inputs, with_step

REFLECTED = (*KEPT, "w", "beta")
CORRECTED = ("deltaformer",)

# -- PaTH --------------------------------------------------------------------------------------------------------------


def own_key_reflected(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    k, w = token["k"], token["w"]
    k = k - token["beta"] * (k * w).sum(axis=-1, keepdims=True) * w
    return step(*state, **{**token, "k": k})


def keys_not_stored_reflected(call: Call) -> Results:
    full, results = with_all_heads(call), right(call)
    keys = np.concatenate([full.state[0], full.inputs["k"]], axis=2)
    shared = keys.shape[1] // results["final_state/keys"].shape[1]
    return {**results, "final_state/keys": keys[:, ::shared]}


PATH = (
    of(REFLECTED, "reflections-missing", "The keys are not reflected.", with_inputs(w=lambda x, c: 0 * x)),
    of(
        REFLECTED,
        "reflections-by-the-keys",
        "The key is taken for the direction.",
        with_inputs(w=lambda x, c: c.inputs["k"]),
    ),
    of(
        REFLECTED,
        "reflections-a-token-late",
        "A token reads keys that it has not reflected.",
        with_inputs(w=lambda x, c: shifted(x, 1), beta=lambda x, c: shifted(x, 1)),
    ),
    of(REFLECTED, "own-key-reflected", "A token reflects its own key too.", with_step(own_key_reflected)),
    of(REFLECTED, "cache-not-reflected", "The keys that are returned are not reflected.", keys_not_stored_reflected),
    of(REFLECTED, "reflections-negated", "The reflection is added.", with_inputs(beta=lambda x, c: -x)),
)

# -- DeltaFormer -------------------------------------------------------------------------------------------------------


def corrected(attended: Callable[[Array, Array, Array], Array]) -> Callable[[Call], Results]:
    """The values are corrected by another ``attended(scores, values, v)``."""

    def changed(step: Any, state: tuple, t: dict[str, Array]) -> Any:
        keys, values = state
        if not keys.shape[-2]:
            return step(*state, **t)
        retrieved = attended(t["scale"] * read(t["w"], transpose(keys)), values, t["v"])
        return step(*state, **{**t, "v": t["v"] - t["beta"] * retrieved, "beta": 0 * t["beta"]})

    return with_step(changed)


def with_own_token(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    (_, _), retrieved = step(*state, **{**t, "q": t["w"], "beta": 0 * t["beta"]})
    return step(*state, **{**t, "v": t["v"] - t["beta"] * retrieved, "beta": 0 * t["beta"]})


def queries(w: Array, call: Call) -> Array:
    """Where there are as many as keys."""
    return call.inputs["q"] if call.inputs["q"].shape == w.shape else w


DELTAFORMER = (
    of(CORRECTED, "correction-missing", "The values are not corrected.", with_inputs(beta=lambda x, c: 0 * x)),
    of(CORRECTED, "correction-added", "The correction is added.", with_inputs(beta=lambda x, c: -x)),
    of(
        CORRECTED,
        "correction-by-the-query",
        "The query retrieves the correction.",
        with_inputs(w=queries),
    ),
    of(
        CORRECTED,
        "correction-by-the-key",
        "The key retrieves the correction.",
        with_inputs(w=lambda x, c: c.inputs["k"]),
    ),
    of(
        CORRECTED,
        "correction-not-scaled",
        "The scores of the correction have no scale.",
        with_inputs(w=lambda x, c: x / c.inputs["scale"]),
    ),
    of(CORRECTED, "correction-sees-its-token", "The correction sees the token itself.", with_step(with_own_token)),
    of(
        CORRECTED,
        "correction-with-a-weight-of-its-own",
        "The softmax of the correction has one more weight, of score 0.",
        corrected(lambda s, values, v: read(np.exp(s) / (1 + np.exp(s).sum(axis=-1, keepdims=True)), values)),
    ),
    of(
        CORRECTED,
        "correction-by-the-mean",
        "The correction is the mean of all values.",
        corrected(lambda s, values, v: values.sum(axis=-2) / values.shape[-2]),
    ),
)

CORRECTED_CACHE = PATH + DELTAFORMER
