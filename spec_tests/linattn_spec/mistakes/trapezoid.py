"""Mamba-3: the trapezoidal write, which weighs a token and the one before it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.algebra import dot, outer, read
from linattn.rotary import rotate
from linattn_spec.mistakes.named_states import states_of, with_final_states, with_states
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

Token = dict[str, Array]
Wrong = Callable[[Call], Results]


def weighed(before: Callable[[Token], Array], own: Callable[[Token], Array] = lambda t: t["trap"] * t["dt"]) -> Wrong:
    """Other weights of the token before and of the token itself."""

    def changed(step: Any, state: tuple, t: Token) -> Any:
        (S, phase, _, _), (_, _, key, value) = step(*state, **t)[0], state
        q, k = rotate(t["q"], phase), rotate(t["k"], phase)
        S = np.exp(t["log_decay"])[..., :, None] * state[0]
        S = S + outer(before(t) * key, value) + outer(own(t) * k, t["v"])
        return (S, phase, k, t["v"]), read(q, S) + t["D"] * t["v"]

    return with_step(changed)


def decay(t: Token) -> Array:
    return np.exp(t["log_decay"])


def turned_again(step: Any, state: tuple, t: Token) -> Any:
    S, phase, key, value = state
    return step(S, phase, rotate(key, t["angle"]), value, **t)


def own_write_not_read(step: Any, state: tuple, t: Token) -> Any:
    after, o = step(*state, **t)
    own = t["trap"] * t["dt"] * dot(rotate(t["q"], after[1]), after[2])
    return after, o - own * t["v"]


def unturned(x: Array, call: Call) -> Array:
    """Of the final key, in a call of one entry of which the last phase is known."""
    phase = states_of(call)["phase"] + call.inputs["angle"].sum(axis=2)
    return rotate(x, -phase)


def of(identity: str, kind: str, sentence: str, wrong: Wrong, **more: Any) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, ("mamba3",), **more)


TRAPEZOID = (
    of(
        "trapezoid-weights-exchanged",
        "order",
        "lambda weighs the token before, 1 - lambda the token itself.",
        with_inputs(trap=lambda x, c: 1 - x),
    ),
    of(
        "trapezoid-ignored",
        "order",
        "Only the token itself is written, with its full weight: Euler's rule, as in Mamba-2.",
        with_inputs(trap=lambda x, c: 1 + 0 * x),
    ),
    of(
        "trapezoid-of-halves",
        "order",
        "Both tokens weigh one half, whatever lambda says.",
        with_inputs(trap=lambda x, c: 0.5 + 0 * x),
    ),
    of(
        "trapezoid-through-a-sigmoid",
        "gate",
        "A sigmoid is applied to lambda, which has been through one.",
        with_inputs(trap=lambda x, c: 1 / (1 + np.exp(-x))),
    ),
    of("token-before-missing", "order", "The token before is not written once more.", weighed(lambda t: 0 * t["dt"])),
    of(
        "token-before-not-decayed",
        "order",
        "The token before is written without the decay of the token.",
        weighed(lambda t: (1 - t["trap"]) * t["dt"]),
    ),
    of(
        "token-before-decayed-twice",
        "order",
        "The token before is written with the square of the decay.",
        weighed(lambda t: (1 - t["trap"]) * t["dt"] * decay(t) ** 2),
    ),
    of(
        "token-before-without-step-size",
        "order",
        "The token before is written without the step size.",
        weighed(lambda t: (1 - t["trap"]) * decay(t)),
    ),
    of(
        "token-without-step-size",
        "order",
        "The token itself is written without the step size.",
        weighed(lambda t: (1 - t["trap"]) * t["dt"] * decay(t), lambda t: t["trap"]),
    ),
    of(
        "token-before-turned-again",
        "rotation",
        "The key of the token before is turned to the position of the token.",
        with_step(turned_again),
    ),
    of(
        "own-write-of-the-trapezoid-not-read",
        "order",
        "A token does not see what it writes of itself.",
        with_step(own_write_not_read),
    ),
    of(
        "key-before-not-handed-in",
        "state in",
        "The incoming key of the token before is ignored.",
        with_states(key=lambda x, c: 0 * x),
        seen_by=("golden", "split"),
    ),
    of(
        "value-before-not-handed-in",
        "state in",
        "The incoming value of the token before is ignored.",
        with_states(value=lambda x, c: 0 * x),
        seen_by=("golden", "split"),
    ),
    of(
        "key-before-not-handed-out",
        "state out",
        "The key of the last token is not returned.",
        with_final_states(key=lambda x, c: states_of(c)["key"]),
        seen_by=("golden", "split"),
    ),
    of(
        "value-before-not-handed-out",
        "state out",
        "The value of the last token is not returned.",
        with_final_states(value=lambda x, c: states_of(c)["value"]),
        seen_by=("golden", "split"),
    ),
    of(
        "key-before-handed-out-unturned",
        "state out",
        "The key of the last token is returned before its turn.",
        with_final_states(key=unturned),
    ),
)
