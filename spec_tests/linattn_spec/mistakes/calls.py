"""Wrong not in what a call returns, but in what it does to its arguments, or keeps from one call to the next."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linattn.record import FORMS
from linattn_spec.mistakes.record import CAUSAL, Array, Mistake, right

Given = dict[str, Any]


def parted(returned: Any) -> tuple[Array, tuple]:
    """What a function returns: the output, and the final state where there is one."""
    return returned if isinstance(returned, tuple) else (returned, ())


def joined(output: Array, final: tuple) -> Any:
    return (output, final) if final else output


def overwritten(name: str, change: Callable[[Any, Given], Any]) -> Callable[..., Any]:
    """An argument is a buffer to work in."""

    def around(call: Callable[..., Any], given: Given) -> Any:
        result = call(**given)
        given[name][...] = change(given[name], given)
        return result

    return around


def weighted(v: Any, given: Given) -> Any:
    beta = np.asarray(given["beta"], dtype=v.dtype)
    return v * (beta if beta.ndim == v.ndim else beta[..., None])


def queries_scaled(call: Callable[..., Any], given: Given) -> Any:
    """Right, unless the caller still needs the queries, or passes the same array for something else."""
    given["q"][...] = given["q"] * np.asarray(given["scale"], dtype=given["q"].dtype)
    return call(**{**given, "scale": 1.0})


def with_outputs(change: Callable[[Any, Given], Any]) -> Callable[..., Any]:
    """Outputs are changed on their way out: ``change(output, kept)``, with what is kept from one call to the next."""

    def around(call: Callable[..., Any], given: Given) -> Any:
        output, final = parted(call(**given))
        return joined(change(output, vars(call)), final)

    return around


def in_one_buffer(output: Any, kept: Given) -> Any:
    """Every call returns the same memory."""
    buffer = kept.setdefault("buffer", output)
    if buffer.shape != output.shape:
        return output
    buffer[...] = output
    return buffer


def added_to_the_last(output: Any, kept: Given) -> Any:
    """The output buffer is used again, and never cleared."""
    before = kept.get("total")
    kept["total"] = output if before is None or before.shape != output.shape else output + before
    return kept["total"]


def every_other_time(output: Any, kept: Given) -> Any:
    """A race: in every other call the last token is not there yet."""
    kept["count"] = kept.get("count", 0) + 1
    if kept["count"] % 2 == 0:
        output = np.concatenate([output[:, :, :-1], 0 * output[:, :, -1:]], axis=2)
    return output


def read_as_if_contiguous(call: Callable[..., Any], given: Given) -> Any:
    """Arrays are read in the order of their memory."""

    def read(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(read(part) for part in x)
        return x.ravel(order="K").reshape(x.shape) if isinstance(x, np.ndarray) else x

    return call(**{name: read(x) for name, x in given.items()})


def state_updated_in_place(call: Callable[..., Any], given: Given) -> Any:
    output, final = call(**given)
    start = given["initial_state"]
    for x, own in zip(final, start if isinstance(start, tuple) else (start,), strict=True):
        if own is not None and own.shape == x.shape:
            own[...] = x
    return output, final


def state_of_the_last_call(call: Callable[..., Any], given: Given) -> Any:
    """The final state of the call before is taken for the incoming one."""
    kept: Any = vars(call).get("kept", given["initial_state"])
    fits = np.shape(kept) == np.shape(given["initial_state"])
    output, final = call(**{**given, "initial_state": kept if fits else given["initial_state"]})
    vars(call)["kept"] = final[0]
    return output, final


def kind_of_call(
    identity: str,
    sentence: str,
    around: Callable[..., Any],
    *needs: str,
    seen_in: tuple[str, ...] = (),
    seen_by: tuple[str, ...] = ("untouched",),
    profiles: tuple[str, ...] = ("fp32", "bf16", "fp16"),
    forms: tuple[str, ...] = FORMS,
) -> Mistake:
    return Mistake(identity, "call", sentence, right, needs, forms, profiles, seen_in, seen_by, around)


CALLS = (
    kind_of_call(
        "initial-state-overwritten",
        "The final state is written over the incoming one.",
        state_updated_in_place,
        "fixed state",
        forms=CAUSAL,
        seen_in=("https://github.com/fla-org/flash-linear-attention/pull/1191",),
    ),
    kind_of_call(
        "queries-scaled-in-place",
        "The queries of the caller are scaled.",
        queries_scaled,
        "scale below 1",
        "k per channel",
        seen_by=("untouched", "aliasing"),
    ),
    kind_of_call(
        "gates-cumulated-in-place",
        "The gates of the caller are replaced by their cumulative sum.",
        overwritten("log_decay", lambda x, given: np.cumsum(x, axis=2)),
        "log_decay per token",
    ),
    kind_of_call(
        "values-overwritten",
        "The values of the caller are replaced by what beta leaves of them.",
        overwritten("v", weighted),
        "beta per token",
    ),
    kind_of_call(
        "outputs-added-to-the-last-ones",
        "The output buffer is never cleared: results are added to those of the call before.",
        with_outputs(added_to_the_last),
    ),
    kind_of_call(
        "state-of-the-last-call",
        "A call starts from where the call before has stopped.",
        state_of_the_last_call,
        "matrix state",
        "fixed state",
        forms=CAUSAL,
        profiles=("fp32",),  # what decays is forgotten until the next call, up to what half precision sees
    ),
    kind_of_call(
        "last-token-missing-every-other-time",
        "A race: in every other call the last token has not been computed.",
        with_outputs(every_other_time),
    ),
    kind_of_call(
        "outputs-in-one-buffer",
        "All calls return their outputs in the same memory.",
        with_outputs(in_one_buffer),
        seen_by=("ownership",),
    ),
    kind_of_call(
        "outputs-added-to-uncleared-memory",
        "Outputs are added to memory that nobody has cleared.",
        with_outputs(lambda output, kept: np.empty_like(output) + output),
        seen_by=("poison",),
    ),
    kind_of_call(
        "strides-ignored",
        "Arrays are read as if they were contiguous.",
        read_as_if_contiguous,
        seen_in=(
            "https://github.com/fla-org/flash-linear-attention/issues/759",
            "https://github.com/flagos-ai/FlagGems/issues/5896",
        ),
        seen_by=("strides",),
    ),
)
