"""What the weights are made of: pairs of channels, and the cosines of the distance."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from linattn.algebra import dot, outer, read
from linattn_spec.mistakes.record import Array, Call, Results, piece, right, with_chunks, with_inputs, with_step
from linattn_spec.mistakes.step_sizes import of

SQUARES = ("power_attention",)
POSITIONED = ("position", "angle", "eps")

# -- power attention ---------------------------------------------------------------------------------------------------


def with_pairs(weight: Callable[[Array], Array]) -> Callable[[Call], Results]:
    """The pairs of channels weigh differently in the read: ``weight(eye)``."""

    def changed(step: Any, state: tuple, t: dict[str, Array]) -> Any:
        (S, z), _ = step(*state, **t)
        pairs = outer(t["q"], t["q"]) * weight(np.eye(z.shape[-1], dtype=z.dtype))
        total = (pairs * z).sum(axis=(-2, -1))[..., None]
        return (S, z), np.einsum("...kl,...klv->...v", pairs, S) / (total + t["eps"])

    return with_step(changed)


POWER = (
    of(
        SQUARES,
        "mixed-pairs-once",
        "Mixed pairs of channels are counted once: their root of 2 is missing.",
        with_pairs(lambda eye: (1 + eye) / 2),
    ),
    of(
        SQUARES,
        "mixed-pairs-missing",
        "Channels are squared one by one: mixed pairs are missing.",
        with_pairs(lambda eye: eye),
    ),
    of(
        SQUARES,
        "scores-to-the-fourth",
        "The degree is 4.",
        with_inputs(q=lambda x, c: x * np.abs(x), k=lambda x, c: x * np.abs(x)),
    ),
)

# -- cosFormer ---------------------------------------------------------------------------------------------------------


def from_position_zero(call: Call) -> Results:
    *sums, position = call.state
    return right(replace(call, state=(*sums, 0 * position)))


def without_sines(step: Any, state: tuple, t: dict[str, Array]) -> Any:
    after, _ = step(*state, **t)
    S, _, z, _, position = after
    q = np.cos(t["angle"] * position) * t["q"]
    return after, read(q, S) / (dot(q, z) + t["eps"])


def positions_restarted(call: Call, windows: list[slice]) -> Any:
    state, outputs = call.state, []
    for window in windows:
        state, output = piece(call, window, (*state[:-1], call.state[-1]))
        outputs.append(output)
    return state, outputs


COSFORMER = (
    of(POSITIONED, "angle-doubled", "The angle is pi / M, not half of it.", with_inputs(angle=lambda x, c: 2 * x)),
    of(POSITIONED, "angle-ignored", "The weights are those of distance 0.", with_inputs(angle=lambda x, c: 0 * x)),
    of(POSITIONED, "sines-missing", "The sums with the sines are not read.", with_step(without_sines)),
    of(POSITIONED, "position-not-handed-over", "The positions start from 0 in every call.", from_position_zero),
    of(
        POSITIONED,
        "positions-restarted-in-chunks",
        "The positions start over in every chunk.",
        with_chunks(positions_restarted),
        forms=("chunkwise",),
    ),
)

POSITIONS = POWER + COSFORMER
