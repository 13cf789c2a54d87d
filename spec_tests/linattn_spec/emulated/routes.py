"""Other ways to the same results, each as kernels in use take it."""

from typing import Any

import numpy as np

from linattn.algebra import outer, read, transpose
from linattn.families import finite

TINY = 2.0**-100

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


# -- shares of a stick -------------------------------------------------------------------------------------------------


def shares_in_base_2(scores: Any, earlier: Any) -> Any:
    """``by_sums`` with all logarithms to base 2."""
    bits = scores.dtype.type(1 / np.log(2))
    scores = np.where(earlier, scores * bits, 0)
    left = np.where(earlier, -np.maximum(scores, 0) - np.log1p(np.exp2(-np.abs(scores))) * bits, 0)
    sums = np.cumsum(left[..., ::-1], axis=-1)[..., ::-1]
    return np.where(earlier, np.exp2(scores + sums), 0), np.exp2(sums[..., :1])


# -- scans -------------------------------------------------------------------------------------------------------------


def one_by_one(decay: Any, write: Any, axis: int) -> tuple[Any, Any]:
    decay, write = with_tokens_first(decay, write, axis)
    products, sums = [decay[0]], [write[0]]
    for now, new in zip(decay[1:], write[1:], strict=True):
        products.append(now * products[-1])
        sums.append(now * sums[-1] + new)
    return np.moveaxis(np.stack(products), 0, axis), np.moveaxis(np.stack(sums), 0, axis)


def by_pairs(decay: Any, write: Any, axis: int) -> tuple[Any, Any]:
    """Pairs of tokens first, and what is between them last: half the work of doubling."""
    prefixes = pairs(*with_tokens_first(decay, write, axis))
    return np.moveaxis(prefixes[0], 0, axis), np.moveaxis(prefixes[1], 0, axis)


def pairs(decay: Any, write: Any) -> tuple[Any, Any]:
    size = len(decay)
    if size == 1:
        return decay, write
    last = size - size % 2
    odd = pairs(*joined((decay[0:last:2], write[0:last:2]), (decay[1::2], write[1::2])))
    inner = joined(tuple(x[: (size - 1) // 2] for x in odd), (decay[2::2], write[2::2]))
    even = tuple(np.concatenate([x[:1], rest]) for x, rest in zip((decay, write), inner, strict=True))
    order = np.argsort([*range(0, size, 2), *range(1, size, 2)])
    decay, write = (np.concatenate(both)[order] for both in zip(even, odd, strict=True))
    return decay, write


def with_tokens_first(decay: Any, write: Any, axis: int) -> tuple[Any, Any]:
    decay = np.broadcast_to(decay, np.broadcast_shapes(decay.shape, write.shape))  # parameters have no batch
    return np.moveaxis(decay, axis, 0), np.moveaxis(write, axis, 0)


def joined(earlier: tuple[Any, ...], later: tuple[Any, ...]) -> tuple[Any, Any]:
    return earlier[0] * later[0], later[0] * earlier[1] + later[1]


# -- weights relative to their largest ---------------------------------------------------------------------------------


def stabilised_differences(log_decay: Any, log_weight: Any, m: Any) -> tuple[Any, Any, Any]:
    """As mLSTM kernels do: differences of cumulative sums, and the largest of a row."""
    total = np.cumsum(log_decay, axis=-2)
    causal = np.tri(total.shape[-2], dtype=bool)[:, :, None]
    exponents = total[..., :, None, :] - total[..., None, :, :] + log_weight[..., None, :, :]
    exponents, start = np.where(causal, exponents, -np.inf), total + m[..., None, :]
    tops = np.maximum(start, np.max(exponents, axis=-2))
    return np.exp(exponents - finite(tops)[..., :, None, :]), np.exp(start - finite(tops)), tops


# -- linear systems ----------------------------------------------------------------------------------------------------


def conjugate_gradients(A: Any, b: Any) -> Any:
    """As many steps as there are unknowns, and once more as many: rounding costs some."""
    x, residual = 0 * b, b
    direction = residual
    size = (residual * residual).sum(axis=-2, keepdims=True)
    for _ in range(2 * A.shape[-1]):
        image = A @ direction
        step = size / np.maximum((direction * image).sum(axis=-2, keepdims=True), TINY)
        x, residual = x + step * direction, residual - step * image
        before, size = size, (residual * residual).sum(axis=-2, keepdims=True)
        direction = residual + size / np.maximum(before, TINY) * direction
    return x


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
