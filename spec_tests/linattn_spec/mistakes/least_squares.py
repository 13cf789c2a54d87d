"""MesaNet: the squares of the keys, their regulariser, and the system that is solved."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import dot, read, solve, times
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_inputs, with_step

NEEDS = ("H", "lamb")


def regularised(H: Array, lamb: Array) -> Array:
    return H + lamb[..., :, None] * np.eye(H.shape[-1], dtype=H.dtype)


def solved(A: Array, q: Array) -> Array:
    return solve(A, q[..., None])[..., 0]


def by(solution: Callable[[Array, Array], Array]) -> Callable[[Call], Results]:
    """Another ``solution(A, q)`` of the system."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (S, H), _ = step(*state, **token)
        return (S, H), read(solution(regularised(H, token["lamb"]), token["q"]), S)

    return with_step(changed)


def apart(squares: bool, change: Callable[[dict[str, Array]], dict[str, Array]]) -> Callable[[Call], Results]:
    """Other inputs for the squares H alone, or for the memory S alone."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (S, H), _ = step(*state, **token)
        (other_S, other_H), _ = step(*state, **{**token, **change(token)})
        S, H = (S, other_H) if squares else (other_S, H)
        return (S, H), read(solved(regularised(H, token["lamb"]), token["q"]), S)

    return with_step(changed)


def a_token_late(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S, H), _ = step(*state, **token)
    return (S, H), read(solved(regularised(state[1], token["lamb"]), token["q"]), S)


def not_handed_over(call: Call) -> Results:
    S, H = call.state
    return right(replace(call, state=(S, 0 * H)))


def conjugate_gradients(A: Array, q: Array, steps: int, eps: float) -> Array:
    """From 0, with ``eps`` in the divisors."""
    x, r, p = 0 * q, q, q
    for _ in range(steps):
        ahead = times(A, p)
        size = dot(r, r)
        x, r = x + size / (dot(p, ahead) + eps) * p, r - size / (dot(p, ahead) + eps) * ahead
        p = r + dot(r, r) / (size + eps) * p
    return x


def series(A: Array, q: Array) -> Array:
    """Around the diagonal, up to the first power."""
    diagonal = np.diagonal(A, axis1=-2, axis2=-1)
    first = q / diagonal
    return 2 * first - times(A, first) / diagonal


def mesa(
    identity: str, sentence: str, wrong: Callable[[Call], Results], profiles: tuple[str, ...] = ("fp32", "bf16", "fp16")
) -> Mistake:
    return Mistake(identity, "least squares", sentence, wrong, NEEDS, profiles=profiles)


LEAST_SQUARES = (
    mesa("solve-missing", "The query reads the memory as it is: nothing is solved.", by(lambda A, q: q)),
    mesa("solve-multiplied", "The query is multiplied by the matrix that should be solved.", by(times)),
    mesa(
        "solve-by-the-diagonal",
        "The query is divided by the diagonal alone, where a solver starts.",
        by(lambda A, q: q / np.diagonal(A, axis1=-2, axis2=-1)),
    ),
    mesa("solve-as-a-series", "The inverse is cut off after the first power of a series.", by(series)),
    mesa(
        "solve-in-one-step",
        "Conjugate gradients end after one step.",
        by(lambda A, q: conjugate_gradients(A, q, 1, 1e-5)),
    ),
    mesa(
        "solve-with-eps-in-the-divisors",
        "Conjugate gradients have 1e-5 in their divisors.",
        by(lambda A, q: conjugate_gradients(A, q, A.shape[-1], 1e-5)),
        ("fp32",),
    ),
    mesa("squares-not-decayed", "H does not decay.", apart(True, lambda t: {"log_decay": 0 * t["log_decay"].clip(-1)})),
    mesa("squares-not-weighted", "H takes the keys without beta.", apart(True, lambda t: {"beta": 0 * t["beta"] + 1})),
    mesa("squares-weighted-twice", "H takes the keys with beta^2.", apart(True, lambda t: {"beta": t["beta"] ** 2})),
    mesa("squares-of-queries", "H is made of the queries.", apart(True, lambda t: {"k": t["q"]})),
    mesa("squares-a-token-late", "What is solved lacks the token itself.", with_step(a_token_late)),
    mesa("squares-not-handed-over", "H starts from 0.", not_handed_over),
    mesa(
        "fit-not-decayed",
        "H decays, the memory does not.",
        apart(False, lambda t: {"log_decay": 0 * t["log_decay"].clip(-1)}),
    ),
    mesa("fit-not-weighted", "beta weights H alone.", apart(False, lambda t: {"beta": 0 * t["beta"] + 1})),
    mesa(
        "regulariser-missing",
        "Next to nothing regularises the fit.",
        with_inputs(lamb=lambda x, c: 2.0**-10 * x),
    ),
    mesa("regulariser-is-one", "The regulariser is taken for 1.", with_inputs(lamb=lambda x, c: 0 * x + 1)),
    mesa("regulariser-squared", "The regulariser is squared.", with_inputs(lamb=lambda x, c: x * x)),
    mesa(
        "regulariser-of-the-first-channel",
        "All channels have the regulariser of the first.",
        with_inputs(lamb=lambda x, c: np.repeat(x[..., :1], x.shape[-1], axis=-1)),
    ),
    mesa(
        "regulariser-decayed",
        "The regulariser decays with the token.",
        with_step(
            lambda step, state, token: step(*state, **{**token, "lamb": token["lamb"] * np.exp(token["log_decay"])})
        ),
    ),
    mesa(
        "regulariser-weighted",
        "The regulariser is weighted with beta.",
        with_step(
            lambda step, state, token: step(*state, **{**token, "lamb": token["lamb"] * (2.0**-10 + token["beta"])})
        ),
    ),
)
