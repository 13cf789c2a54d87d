"""Other ways to the same results, each as kernels in use take it."""

from typing import Any

import numpy as np

from linattn.algebra import outer, read, transpose

# -- decays over several tokens ----------------------------------------------------------------------------------------


def differences(log_decay: Any, exp: Any = np.exp, base: float = 1.0) -> Any:
    """As most kernels do: exp of differences of cumulative sums, in base e or 2."""
    total = np.cumsum(log_decay * log_decay.dtype.type(base), axis=-2)
    return exponentials(total[..., :, None, :] - total[..., None, :, :], total, total[..., -1:, :] - total, exp)


def base_2(log_decay: Any) -> Any:
    return differences(log_decay, np.exp2, 1 / np.log(2))


def powers(log_decay: Any) -> Any:
    """Of a constant decay: exp of multiples of its logarithm."""
    g, t = log_decay[..., :1, :], np.arange(log_decay.shape[-2], dtype=log_decay.dtype)[:, None]
    return exponentials((t[:, None] - t) * g[..., None, :], (t + 1) * g, (t[::-1]) * g, np.exp)


def exponentials(between: Any, since_start: Any, until_end: Any, exp: Any) -> Any:
    causal = np.tri(between.shape[-3], dtype=between.dtype)[:, :, None]
    return exp(np.where(causal > 0, between, 0)) * causal, exp(since_start), exp(until_end)


def factors(log_decay: Any) -> Any:
    """Relative to the middle of the chunk, a factor of the queries and one of the keys: while the gates stay in range,
    all products of a chunk are one contraction.
    """
    total = np.cumsum(log_decay, axis=-2)
    middle = total[..., total.shape[-2] // 2, None, :]
    between = np.exp(total - middle), np.exp(middle - total)
    return between, np.exp(total), np.exp(total[..., -1:, :] - total)


def products_of_factors(q: Any, k: Any, between: Any) -> Any:
    of_queries, of_keys = between
    return np.tril((of_queries * q) @ transpose(of_keys * k))


# -- delta rules -------------------------------------------------------------------------------------------------------


def one_write(S: Any, q: Any, k: Any, v: Any, beta: Any, scale: Any, log_decay: Any = None) -> Any:
    """The strength goes to the key, and what is erased and what is written are one outer product."""
    S = S if log_decay is None else np.exp(log_decay)[..., :, None] * S
    S = S + outer(beta * k, v - read(k, S))
    return (S,), scale * read(q, S)


def two_writes(S: Any, q: Any, k: Any, v: Any, beta: Any, scale: Any, log_decay: Any = None) -> Any:
    """One outer product erases, another writes."""
    S = S if log_decay is None else np.exp(log_decay)[..., :, None] * S
    S = S - outer(beta * k, read(k, S))
    S = S + outer(beta * k, v)
    return (S,), scale * read(q, S)
