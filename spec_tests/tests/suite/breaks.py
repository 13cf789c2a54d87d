"""Ways to break a right adapter: each calls it with wrong arguments, or spoils what it returns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.frameworks import typed

Call = Callable[..., Any]
Given = dict[str, Any]  # the arguments: (B, T, H, D), float32, and the state (B, H, K, V)


def scale_missing(call: Call, given: Given) -> Any:
    return call(**given | {"scale": 1.0})


def scale_applied_twice(call: Call, given: Given) -> Any:
    return call(**given | {"scale": given["scale"] ** 2})


def decay_passed_for_its_logarithm(call: Call, given: Given) -> Any:
    return call(**given | {"log_decay": np.exp(given["log_decay"])})


def decay_after_the_read(call: Call, given: Given) -> Any:
    return call(**given | {"log_decay": one_later(given["log_decay"])})


def erase_before_the_decay(call: Call, given: Given) -> Any:
    """alpha S + k beta (v - S^T k) = alpha S + k (beta / alpha) (alpha v - (alpha S)^T k)."""
    alpha = np.exp(given["log_decay"])
    with np.errstate(divide="ignore", invalid="ignore"):
        return call(**given | {"beta": given["beta"] / alpha, "v": alpha[..., None] * given["v"]})


def beta_ignored(call: Call, given: Given) -> Any:
    return call(**given | {"beta": np.ones_like(given["beta"])})


def beta_on_the_value_alone(call: Call, given: Given) -> Any:
    return call(**given | {"beta": np.ones_like(given["beta"]), "v": given["beta"][..., None] * given["v"]})


def gates_clamped(call: Call, given: Given) -> Any:
    return call(**given | {"log_decay": np.maximum(given["log_decay"], -5)})


def channels_share_a_gate(call: Call, given: Given) -> Any:
    mean = given["log_decay"].mean(axis=-1, keepdims=True)
    return call(**given | {"log_decay": np.broadcast_to(mean, given["log_decay"].shape)})


def gate_of_the_last_token_in_the_first(call: Call, given: Given) -> Any:
    return call(
        **given | {"log_decay": np.concatenate([given["log_decay"][:, -1:], given["log_decay"][:, 1:]], axis=1)}
    )


def initial_state_dropped(call: Call, given: Given) -> Any:
    return call(**given | {"initial_state": None})


def initial_state_transposed(call: Call, given: Given) -> Any:
    """As code does that takes the rows of the buffer for columns."""
    state = given["initial_state"]
    return call(**given | {"initial_state": state if state is None else np.swapaxes(state, 2, 3).reshape(state.shape)})


def initial_state_of_batch_entry_0_for_all(call: Call, given: Given) -> Any:
    state = given["initial_state"]
    return call(**given | {"initial_state": state if state is None else np.broadcast_to(state[:1], state.shape)})


def final_state_transposed(call: Call, given: Given) -> Any:
    output, state = call(**given)
    return output, np.swapaxes(state, 2, 3)


def final_state_one_token_old(call: Call, given: Given) -> Any:
    output, state = call(**given)
    if output.shape[1] == 1:
        return output, np.zeros_like(state) if given["initial_state"] is None else given["initial_state"]
    return output, call(**piece(given, slice(0, -1)))[1]


def state_in_bfloat16(call: Call, given: Given) -> Any:
    output, state = call(**given)
    return output, rounded(state, "bfloat16")


def inputs_in_float16(call: Call, given: Given) -> Any:
    return call(**{name: rounded(x, "float16") if isinstance(x, np.ndarray) else x for name, x in given.items()})


def heads_tiled(call: Call, given: Given) -> Any:
    """Head h of the many meets head h % few: as if the many had been reordered."""
    few = min(given[name].shape[2] for name in ("q", "v"))
    axes = {name: 1 if name == "initial_state" else 2 for name, x in given.items() if isinstance(x, np.ndarray)}
    output, state = call(**given | {name: reordered(given[name], few, axis) for name, axis in axes.items()})
    return reordered(output, few, 2, back=True), reordered(state, few, 1, back=True)


def output_one_token_late(call: Call, given: Given) -> Any:
    output, state = call(**given)
    return one_later(output), state


def tail_of_the_last_chunk_zero(call: Call, given: Given) -> Any:
    output, state = call(**given)
    whole = output.shape[1] // 16 * 16
    return np.concatenate([output[:, :whole], 0 * output[:, whole:]], axis=1) if whole else output, state


def chunks_of_16_without_the_state(call: Call, given: Given) -> Any:
    starts = range(0, given["q"].shape[1], 16)
    pieces = [piece(given, slice(start, start + 16)) for start in starts]
    results = [
        call(**own | ({} if start == 0 else {"initial_state": None})) for start, own in zip(starts, pieces, strict=True)
    ]
    return np.concatenate([output for output, _ in results], axis=1), results[-1][1]


def one_head_not_a_number(call: Call, given: Given) -> Any:
    output, state = call(**given)
    output[:, output.shape[1] // 2 :, 1] = np.nan
    return output, state


def argument_overwritten(call: Call, given: Given) -> Any:
    result = call(**given)
    given["q"][...] *= given["scale"]
    return result


def float64_returned(call: Call, given: Given) -> Any:
    output, state = call(**given)
    return output.astype(np.float64), state


def one_later(x: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], axis=1)


def piece(given: Given, window: slice) -> Given:
    return {name: x if name in ("scale", "initial_state") else x[:, window] for name, x in given.items()}


def rounded(x: np.ndarray, dtype: str) -> np.ndarray:
    return typed(x, dtype).values.astype(x.dtype)


def reordered(x: np.ndarray, few: int, axis: int, back: bool = False) -> np.ndarray:
    """Heads 0 1 2 3 as 0 2 1 3, for two heads among four; ``back`` undoes it."""
    order = np.arange(x.shape[axis]).reshape(-1, few).T.ravel()
    return np.take(x, np.argsort(order) if back else order, axis)
