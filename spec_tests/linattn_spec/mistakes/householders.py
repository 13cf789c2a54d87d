"""Several delta rules a token, and delta rules that precondition their keys."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import outer, read
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_inputs, with_step

PRODUCT = ("gated_delta_product",)
PRECONDITIONED = ("A", "x", "beta_atk")


# -- Gated DeltaProduct ------------------------------------------------------------------------------------------------


def in_turn(state: tuple, token: dict[str, Array], order: slice, decays: int) -> Any:
    """The delta rules of a token in an order, the first so many of them after a decay."""
    S, alpha = state[0], np.exp(token["log_decay"])[..., :, None]
    k, v, beta = (token[name][..., order, :] for name in ("k", "v", "beta"))
    for j in range(k.shape[-2]):
        S = alpha * S if j < decays else S
        S = S + outer(k[..., j, :], beta[..., j, :] * (v[..., j, :] - read(k[..., j, :], S)))
    return (S,), token["scale"] * read(token["q"], S)


def of_a_token(order: slice, decays: int = 1) -> Callable[[Call], Results]:
    return with_step(lambda step, state, token: in_turn(state, token, order, decays))


def decayed_last(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    (S,), _ = in_turn(state, token, slice(None), 0)
    S = np.exp(token["log_decay"])[..., :, None] * S
    return (S,), token["scale"] * read(token["q"], S)


def at_once(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """All of them read the same memory."""
    S = np.exp(token["log_decay"])[..., :, None] * state[0]
    error = token["beta"] * (token["v"] - token["k"] @ S)
    S = S + np.swapaxes(token["k"], -1, -2) @ error
    return (S,), token["scale"] * read(token["q"], S)


def read_after_the_first(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    after, _ = step(*state, **token)
    return after, in_turn(state, token, slice(0, 1), 1)[1]


def product(identity: str, sentence: str, wrong: Callable[[Call], Results]) -> Mistake:
    return Mistake(identity, "householders", sentence, wrong, PRODUCT)


HOUSEHOLDERS = (
    product("householders-reversed", "The delta rules of a token act in reverse.", of_a_token(slice(None, None, -1))),
    product("householders-at-once", "The delta rules of a token all read the same memory.", with_step(at_once)),
    product("first-householder-alone", "The first delta rule of a token acts alone.", of_a_token(slice(0, 1))),
    product("last-householder-alone", "The last delta rule of a token acts alone.", of_a_token(slice(-1, None))),
    product("decay-in-every-householder", "The memory decays before every delta rule.", of_a_token(slice(None), 99)),
    product("decay-after-the-householders", "The memory decays after the delta rules.", with_step(decayed_last)),
    product(
        "read-after-the-first-householder",
        "The query reads after the first delta rule.",
        with_step(read_after_the_first),
    ),
    product(
        "values-of-the-first-householder",
        "All delta rules of a token write the first value.",
        with_inputs(v=lambda x, c: np.repeat(x[..., :1, :], x.shape[-2], axis=-2)),
    ),
    product(
        "strength-of-the-first-householder",
        "All delta rules of a token have the first strength.",
        with_inputs(beta=lambda x, c: np.repeat(x[..., :1, :], x.shape[-2], axis=-2)),
    ),
)

# -- preconditioned keys -----------------------------------------------------------------------------------------------


def not_handed_over(call: Call) -> Results:
    S, A = call.state
    return right(replace(call, state=(S, 0 * A)))


def updated_after_use(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """The memory takes the A of the token before."""
    (_, A), _ = step(*state, **token)
    still = {"log_decay_atk": 0 * token["log_decay_atk"].clip(-1), "beta_atk": 0 * token["beta_atk"]}
    (S, _), o = step(*state, **{**token, **still})
    return (S, A), o


def also_on_the_erase(step: Any, state: tuple, token: dict[str, Array]) -> Any:
    """Keys are preconditioned where they read, too: once more than the write, which is found by its proportion."""
    (S, A), _ = step(0 * state[0], state[1], **token)
    (one, _), _ = step(0 * state[0], state[1], **{**token, "v": 0 * token["v"] + 1, "beta": 0 * token["beta"] + 1})
    decayed = np.exp(token["log_decay"])[..., :, None] * state[0]
    S = decayed + S - outer(one[..., 0], token["beta"] * read(one[..., 0], decayed))
    return (S, A), token["scale"] * read(token["q"], S)


def precondition(identity: str, sentence: str, wrong: Callable[[Call], Results]) -> Mistake:
    return Mistake(identity, "preconditioner", sentence, wrong, PRECONDITIONED)


PRECONDITIONERS = (
    precondition("preconditioner-ignored", "Keys are written as they are.", with_inputs(x=lambda x, c: 0 * x + 1)),
    precondition("preconditioner-inverted", "The preconditioner divides.", with_inputs(x=lambda x, c: 1 / x)),
    precondition(
        "preconditioner-updated-after-use", "The squares lack the token itself.", with_step(updated_after_use)
    ),
    precondition(
        "preconditioner-on-the-erase", "Preconditioned keys read what is erased.", with_step(also_on_the_erase)
    ),
    precondition("preconditioner-not-handed-over", "The squares of the keys start from 0.", not_handed_over),
    precondition(
        "preconditioner-not-decayed",
        "The squares of the keys do not decay.",
        with_inputs(log_decay_atk=lambda x, c: 0 * x.clip(-1)),
    ),
    precondition(
        "preconditioner-not-centred",
        "The centre of the logarithms is taken for 0.",
        with_inputs(log_atk_scale=lambda x, c: 0 * x),
    ),
    precondition(
        "preconditioner-not-weighted",
        "The squares of the keys are all taken with weight 1.",
        with_inputs(beta_atk=lambda x, c: 0 * x + 1),
    ),
    precondition(
        "preconditioner-weighted-as-the-write",
        "The squares of the keys are weighted with the writing strength.",
        with_inputs(beta_atk=lambda x, c: c.inputs["beta"]),
    ),
    precondition(
        "preconditioner-bound-squared", "The bound of the preconditioner is squared.", with_inputs(x=lambda x, c: x * x)
    ),
    precondition(
        "preconditioner-decayed-twice",
        "The squares of the keys decay twice.",
        with_inputs(log_decay_atk=lambda x, c: 2 * x),
    ),
)

SEVERAL_RULES = HOUSEHOLDERS + PRECONDITIONERS
