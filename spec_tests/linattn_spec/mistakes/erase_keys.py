"""Delta rules with keys and gates of their own: which key reads what is erased, which writes it, and when."""

from collections.abc import Callable
from typing import Any

from linattn.algebra import outer, read
from linattn_spec.mistakes.inside import unit
from linattn_spec.mistakes.recall import with_token
from linattn_spec.mistakes.record import Array, Call, Mistake, Results, with_inputs, with_step
from linattn_spec.mistakes.recurrence import decay

Erased = Callable[[Array, Array, dict[str, Array]], Array]


def erasing(erased: Erased) -> Callable[[Call], Results]:
    """Another erase: ``erased(before, decayed, token)`` is added to the decayed memory, beside the right write."""

    def changed(step: Any, state: tuple, token: dict[str, Array]) -> Any:
        (written,), _ = step(0 * state[0], **token)
        decayed = decay(state[0], token)
        S = decayed + erased(state[0], decayed, token) + written
        return (S,), token["scale"] * read(token["q"], S)

    return with_step(changed)


def of(
    needs: tuple[str, ...], identity: str, sentence: str, wrong: Callable[[Call], Results], *seen_in: str
) -> Mistake:
    return Mistake(identity, "erase", sentence, wrong, needs, seen_in=seen_in)


# -- any erase of the undecayed memory ---------------------------------------------------------------------------------

DECAYED = of(
    ("erase undecayed", "log_decay"),
    "erase-decayed",
    "The erase reads the memory after its decay.",
    with_token(lambda state, t: ((decay(state[0], t), *state[1:]), {"log_decay": 0 * t["log_decay"].clip(-1)})),
)

# -- Comba -------------------------------------------------------------------------------------------------------------

CLOSED_LOOP = ("p", "beta")
COMBA = (
    of(
        CLOSED_LOOP,
        "erase-key-ignored",
        "The key itself reads what is erased.",
        with_inputs(p=lambda x, c: c.inputs["k"]),
    ),
    of(
        CLOSED_LOOP,
        "erase-key-exchanged",
        "The erase key writes, and the key reads what is erased.",
        with_inputs(k=lambda x, c: c.inputs["p"], p=lambda x, c: c.inputs["k"]),
    ),
    of(CLOSED_LOOP, "erase-key-normalised", "The erase key is normalised inside.", with_inputs(p=unit)),
    of(
        CLOSED_LOOP,
        "erase-written-by-its-own-key",
        "What is erased is written where the erase key has read it.",
        erasing(lambda before, S, t: -outer(t["p"], t["beta"] * read(t["p"], before))),
    ),
    of(
        CLOSED_LOOP,
        "queries-corrected",
        "The erase key is subtracted from the query.",
        with_token(lambda state, t: (state, {"q": t["q"] - t["p"]})),
    ),
)

# -- DPLR, IPLR --------------------------------------------------------------------------------------------------------

LOW_RANK = ("a per channel", "b per channel")


def erase_after_write(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    (S,), _ = step(*state, **{**t, "b": 0 * t["b"]})
    S = S + outer(t["b"], read(t["a"], S))
    return (S,), t["scale"] * read(t["q"], S)


GENERALISED = (
    of(
        LOW_RANK,
        "low-rank-keys-exchanged",
        "a writes and b reads.",
        with_inputs(a=lambda x, c: c.inputs["b"], b=lambda x, c: c.inputs["a"]),
    ),
    of(LOW_RANK, "low-rank-sign", "What a reads is subtracted, not added.", with_inputs(b=lambda x, c: -x)),
    of(LOW_RANK, "low-rank-missing", "Nothing is corrected: a is taken for 0.", with_inputs(a=lambda x, c: 0 * x)),
    of(
        LOW_RANK,
        "low-rank-read-by-the-key",
        "The key reads in the place of a.",
        with_inputs(a=lambda x, c: c.inputs["k"]),
    ),
    of(
        LOW_RANK,
        "low-rank-written-at-the-key",
        "The key writes in the place of b.",
        with_inputs(b=lambda x, c: c.inputs["k"]),
    ),
    of(LOW_RANK, "low-rank-normalised", "b is normalised inside.", with_inputs(b=unit)),
    of(LOW_RANK, "low-rank-after-the-write", "a reads what the token has just written.", with_step(erase_after_write)),
)

# -- RWKV-7 ------------------------------------------------------------------------------------------------------------

REMOVAL = ("kappa", "a per channel")
DIVERGENCES = "https://github.com/ooples/AiDotNet.Tensors/pull/895"
RWKV7 = (
    of(
        REMOVAL,
        "removal-missing",
        "Nothing is removed: kappa is taken for 0.",
        with_inputs(kappa=lambda x, c: 0 * x),
        DIVERGENCES,
    ),
    of(
        REMOVAL,
        "removal-by-the-key",
        "The key removes in the place of kappa.",
        with_inputs(kappa=lambda x, c: c.inputs["k"]),
    ),
    of(REMOVAL, "removal-key-normalised", "kappa is normalised inside.", with_inputs(kappa=unit)),
    of(
        REMOVAL,
        "removal-rate-ignored",
        "The learning rate a is taken for 1.",
        with_inputs(a=lambda x, c: 0 * x + 1),
        DIVERGENCES,
    ),
    of(
        REMOVAL,
        "removal-rate-on-the-read",
        "a weights what kappa reads, not where it writes.",
        erasing(lambda before, S, t: -outer(t["kappa"], read(t["a"] * t["kappa"], before))),
    ),
    of(
        REMOVAL,
        "removal-rate-twice",
        "a weights what kappa reads and where it writes.",
        erasing(lambda before, S, t: -outer(t["a"] * t["kappa"], read(t["a"] * t["kappa"], before))),
    ),
    of(
        REMOVAL,
        "removal-rate-on-the-key",
        "a weights the key that is written too.",
        with_inputs(k=lambda x, c: x * c.inputs["a"]),
    ),
    of(
        REMOVAL,
        "removal-added",
        "What is removed is added.",
        erasing(lambda before, S, t: outer(t["a"] * t["kappa"], read(t["kappa"], before))),
    ),
)

ERASE_KEYS = (DECAYED, *COMBA, *GENERALISED, *RWKV7)
