"""Complex states, kept as pairs of real arrays: S4D, S5 and the LRU."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn_spec.mistakes.angles import negated
from linattn_spec.mistakes.named_states import with_final_states, with_states
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step

COMPLEX = ("x per token", "h_real", "h_imag")
Token = dict[str, Array]


def read_after(change: Callable[[tuple, Callable[[tuple], Array], Token], Array]) -> Callable[[Call], Results]:
    """Another output: ``change((before, after), read, token)``; ``read(state)`` is what the token reads of a state."""

    def changed(step: Any, state: tuple, token: Token) -> Any:
        def read(some: tuple) -> Array:
            still = {name: 0 * np.maximum(token[name], -1) for name in ("x", "log_decay", "angle")}
            return step(*some, **{**token, **still})[1]

        after, _ = step(*state, **token)
        return after, change((state, after), read, token) + token["D"] * token["x"]

    return with_step(changed)


def without_imaginary_part(step: Any, state: tuple, token: Token) -> Any:
    (real, imag), output = step(*state, **token)
    return (real, 0 * imag), output


def decayed_by(factor: Callable[[Array, Array], tuple[Array, Array]]) -> Callable[[Call], Results]:
    """Another eigenvalue: ``factor(log_decay, angle)``, its real and imaginary part."""

    def changed(step: Any, state: tuple, token: Token) -> Any:
        (real, imag), (a, b) = state, factor(np.maximum(token["log_decay"], -64), token["angle"])
        kept = {"log_decay": 0 * np.maximum(token["log_decay"], -1), "angle": 0 * token["angle"]}
        return step(a * real - b * imag, b * real + a * imag, **{**token, **kept})

    return with_step(changed)


def bilinear(g: Array, angle: Array) -> tuple[Array, Array]:
    ratio = (2 + g + 1j * angle) / (2 - g - 1j * angle)
    return ratio.real.astype(g.dtype), ratio.imag.astype(g.dtype)


def turned_alone(g: Array, angle: Array) -> tuple[Array, Array]:
    return np.cos(angle), np.exp(g) * np.sin(angle)


def held_once_more(part: str) -> Callable[[Array, Call], Array]:
    """The input weight times (lambda - 1) / log lambda once more."""

    def change(x: Array, call: Call) -> Array:
        rate = np.maximum(call.inputs["log_decay"], -64) + 1j * call.inputs["angle"]
        hold = (np.exp(rate) - 1) / rate
        hold = hold if hold.ndim == x.ndim else hold[..., None]
        return getattr(hold * (call.inputs["B_real"] + 1j * call.inputs["B_imag"]), part).astype(x.dtype)

    return change


def of(identity: str, kind: str, sentence: str, wrong: Callable[[Call], Results], *needs: str) -> Mistake:
    return Mistake(identity, kind, sentence, wrong, (*COMPLEX, *needs))


PARTS = (
    of(
        "state-imaginary-part-dropped",
        "state layout",
        "The imaginary part of the state is dropped after every token.",
        with_step(without_imaginary_part),
    ),
    of(
        "imaginary-part-read",
        "order",
        "The imaginary part is read, not the real one.",
        read_after(lambda s, read, t: read((s[1][1], -s[1][0]))),
    ),
    of(
        "state-read-before-its-update",
        "order",
        "The state is read before the token is written.",
        read_after(lambda s, read, t: read(s[0])),
    ),
    of("output-weight-conjugated", "order", "C is conjugated.", with_inputs(C_imag=negated)),
    of("output-weight-real", "order", "The imaginary part of C is ignored.", with_inputs(C_imag=lambda x, c: 0 * x)),
    of("input-weight-conjugated", "order", "B is conjugated.", with_inputs(B_imag=negated)),
    of("input-weight-real", "order", "The imaginary part of B is ignored.", with_inputs(B_imag=lambda x, c: 0 * x)),
    of(
        "real-part-twice",
        "scale",
        "The real part is read twice as often as it is.",
        with_inputs(C_real=lambda x, c: 2 * x, C_imag=lambda x, c: 2 * x),
    ),
    *(
        of(
            f"real-part-once-in-{name}",
            "scale",
            f"The real part is read once: the conjugate eigenvalues of {title} are forgotten.",
            with_inputs(C_real=lambda x, c: x / 2, C_imag=lambda x, c: x / 2),
            name,
        )
        for name, title in (("s4d", "S4D"), ("s5", "S5"))
    ),
)

HANDED_OVER = (
    of(
        "state-parts-exchanged-in",
        "state in",
        "The real and the imaginary part of the incoming state are exchanged.",
        with_states(h_real=lambda x, c: c.state[1], h_imag=lambda x, c: c.state[0]),
    ),
    of("state-conjugated-in", "state in", "The incoming state is conjugated.", with_states(h_imag=negated)),
    of("state-conjugated-out", "state out", "The final state is conjugated.", with_final_states(h_imag=negated)),
    of(
        "state-imaginary-part-ignored",
        "state in",
        "The imaginary part of the incoming state is ignored.",
        with_states(h_imag=lambda x, c: 0 * x),
    ),
)

EIGENVALUES = (
    of(
        "eigenvalue-by-euler",
        "gate",
        "The eigenvalue is 1 + g + i angle: Euler's rule, not a zero-order hold.",
        decayed_by(lambda g, angle: (1 + g, angle)),
    ),
    of("eigenvalue-bilinear", "gate", "The eigenvalue is that of the bilinear rule.", decayed_by(bilinear)),
    of(
        "imaginary-part-alone-decays", "gate", "The real part of the eigenvalue has no decay.", decayed_by(turned_alone)
    ),
    of(
        "zero-order-hold-once-more",
        "order",
        "B is multiplied with what a zero-order hold has multiplied it with.",
        with_inputs(B_real=held_once_more("real"), B_imag=held_once_more("imag")),
    ),
)


def from_decay(x: Array, call: Call) -> Array:
    return np.sqrt(1 - np.exp(2 * call.inputs["log_decay"]))


LRU = (
    of(
        "gamma-missing",
        "order",
        "The factor gamma on the input is missing.",
        with_inputs(gamma=lambda x, c: 1 + 0 * x),
        "lru",
    ),
    of("gamma-squared", "order", "The factor gamma acts twice.", with_inputs(gamma=lambda x, c: x * x), "lru"),
    of(
        "gamma-of-the-decay",
        "order",
        "gamma is not read but computed: sqrt(1 - decay^2).",
        with_inputs(gamma=from_decay),
        "lru",
    ),
    of(
        "gamma-exponentiated",
        "order",
        "The exponential of gamma is taken.",
        with_inputs(gamma=lambda x, c: np.exp(x)),
        "lru",
    ),
    of(
        "gamma-on-the-skip",
        "order",
        "gamma scales what is read, not what is written.",
        with_step(lambda step, state, t: gamma_read(step, state, t)),
        "lru",
    ),
)


def gamma_read(step: Any, state: tuple, t: Token) -> Any:
    """The states are larger by 1 / gamma."""
    C = {name: t[name] * t["gamma"][..., None, :] for name in ("C_real", "C_imag")}
    return step(*state, **{**t, **C, "gamma": 1 + 0 * t["gamma"]})


COMPLEX_STATES = PARTS + HANDED_OVER + EIGENVALUES + LRU
