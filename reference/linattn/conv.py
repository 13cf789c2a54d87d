r"""The causal short convolution before the recurrence, channel by channel, with its state.

.. math::

    y_t = \mathrm{act}\Big(\sum_{j=0}^{W-1} w_{W-1-j} \odot x_{t-j} + b\Big)

Channels do not mix. ``weight`` is (D, W) as in causal-conv1d and PyTorch, without the axis of one: its last column
belongs to the token itself. The state is the last W - 1 inputs, oldest first: (..., W - 1, D), zeros at the start.
transformers and mamba keep (B, D, W): the same turned, with one column more that the next token pushes out. In fla's
Gated DeltaNet and KDA q, k and v have a convolution each, with SiLU; in Mamba-2 one runs over x, B and C together,
which is the same since channels do not mix. Mamba-2 has a bias, Gated DeltaNet has none.
"""

from typing import Any

import numpy as np

from linattn.activations import activation

Array = Any


def initial_state(x: Array, width: int) -> Array:
    """Zeros for a sequence like x (..., T, D) and W = ``width``."""
    return np.zeros(x.shape[:-2] + (width - 1, x.shape[-1]), dtype=x.dtype)


def prefill(state: Array, x: Array, weight: Array, bias: Any = 0, act: str | None = None) -> tuple[Array, Array]:
    """x (..., T, D) to the new state and y (..., T, D), as a sum of shifted sequences."""
    width, tokens = weight.shape[-1], x.shape[-2]
    if state.shape[-2:] != (width - 1, x.shape[-1]):
        raise ValueError(f"state must end in {(width - 1, x.shape[-1])}; got shape {state.shape}")
    seen = np.concatenate([state, x], axis=-2)
    y = sum(weight[..., j] * seen[..., j : j + tokens, :] for j in range(width)) + bias
    return seen[..., tokens:, :], activation(act)(y)


def step(state: Array, x: Array, weight: Array, bias: Any = 0, act: str | None = None) -> tuple[Array, Array]:
    """One token: x (..., D) to the new state and y (..., D), as an inner product of what is in the window."""
    window = np.concatenate([state, x[..., None, :]], axis=-2)
    y = np.einsum("...wd,dw->...d", window, weight) + bias
    return window[..., 1:, :], activation(act)(y)
