"""How Mamba and Mamba-2 are called in transformers, which writes them in PyTorch."""

from collections.abc import Callable
from typing import Any

import torch


def selective_steps(update: Callable[..., Any]) -> Callable[..., Any]:
    """Mamba token by token. A head is a model of its own there; the state changes in place."""

    def call(q, k, v, dt, A, D, initial_state):
        shape = (v.shape[0], v.shape[2], v.shape[3], k.shape[3])
        states = torch.zeros(shape) if initial_state is None else initial_state.clone()

        def steps(state, v, dt, k, q, A, D):  # of one head, tokens first
            tokens = zip(v, dt, k, q, strict=True)
            return torch.stack([update(state, x, size, A, B, C, D) for x, size, B, C in tokens], dim=1)

        sequences = [x.permute(2, 1, 0, 3) for x in (v, dt, k, q)]
        heads = zip(states.unbind(1), *sequences, A, D, strict=True)
        return torch.stack([steps(*head) for head in heads], dim=2), states

    return call


def selective_scan(scan: Callable[..., Any]) -> Callable[..., Any]:
    """Mamba from the empty state."""

    def call(q, k, v, dt, A, D):
        v, dt, k, q = (x.permute(2, 0, 3, 1) for x in (v, dt, k, q))
        found = [scan(*head, return_last_state=True) for head in zip(v, dt, A, k, q, D, strict=True)]
        outputs, states = zip(*found, strict=True)
        return torch.stack(outputs, dim=1).permute(0, 3, 1, 2), torch.stack(states, dim=1)

    return call


def chunks(scan: Callable[..., Any]) -> Callable[..., Any]:
    """Mamba-2 has log_decay = dt A and writes dt x. Here dt is 1 and A changes from token to token, which is exact."""

    def call(q, k, v, log_decay, scale, initial_state, chunk_size=64):
        given = {"dt": torch.ones_like(log_decay), "A": log_decay, "B": k, "C": q, "initial_states": initial_state}
        output, state = scan(v, **given, chunk_size=chunk_size, return_final_states=True)
        return (scale * output).to(v.dtype), state  # its output is float32

    return call


def tokens(update: Callable[..., Any]) -> Callable[..., Any]:
    """The step of decoding. It reads a state that is rounded to the dtype of C, and changes the state in place."""

    def call(q, k, v, log_decay, scale, initial_state):
        batch, _, heads, width = v.shape
        state = torch.zeros(batch, heads, width, k.shape[-1]) if initial_state is None else initial_state.clone()
        outputs = [v[:, :0]]
        for t in range(v.shape[1]):
            dt, A = torch.ones(v[:, t].shape), log_decay[:, t, :, None, None]
            outputs.append(update(state, v[:, t], dt, A, k[:, t], scale * q[:, t])[:, None])
        return torch.cat(outputs, 1), state

    return call
