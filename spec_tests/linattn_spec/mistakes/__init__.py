"""The catalogue of mistakes: one list, used as mutants that measure the suite and as signatures that name a fault."""

from difflib import get_close_matches

from linattn_spec.mistakes.beta import BETA
from linattn_spec.mistakes.cache import CACHE
from linattn_spec.mistakes.calls import CALLS
from linattn_spec.mistakes.causality import CAUSALITY
from linattn_spec.mistakes.chunks import CHUNKS
from linattn_spec.mistakes.decays import DECAYS
from linattn_spec.mistakes.entries import BATCH
from linattn_spec.mistakes.gates import GATES
from linattn_spec.mistakes.gates_inside import GATES_INSIDE
from linattn_spec.mistakes.handover import STATE
from linattn_spec.mistakes.heads import HEADS
from linattn_spec.mistakes.inside import INSIDE
from linattn_spec.mistakes.kernels import KERNELS
from linattn_spec.mistakes.layout import LAYOUT
from linattn_spec.mistakes.memory import MEMORY
from linattn_spec.mistakes.normaliser import NORMALISER
from linattn_spec.mistakes.operands import OPERANDS
from linattn_spec.mistakes.own_token import OWN_TOKEN
from linattn_spec.mistakes.precision import PRECISION
from linattn_spec.mistakes.ragged import RAGGED
from linattn_spec.mistakes.record import Mistake
from linattn_spec.mistakes.recurrence import RECURRENCE
from linattn_spec.mistakes.scale import SCALE
from linattn_spec.mistakes.sequences import SEQUENCES
from linattn_spec.mistakes.taps import TAPS
from linattn_spec.mistakes.triangular import TRIANGULAR
from linattn_spec.mistakes.widths import WIDTHS
from linattn_spec.mistakes.window import WINDOW

MISTAKES: tuple[Mistake, ...] = (
    SCALE
    + GATES
    + GATES_INSIDE
    + BETA
    + INSIDE
    + HEADS
    + BATCH
    + LAYOUT
    + WIDTHS
    + RECURRENCE
    + OWN_TOKEN
    + CAUSALITY
    + STATE
    + WINDOW
    + TAPS
    + CACHE
    + KERNELS
    + CHUNKS
    + RAGGED
    + DECAYS
    + TRIANGULAR
    + NORMALISER
    + PRECISION
    + OPERANDS
    + MEMORY
    + CALLS
    + SEQUENCES
)


def mistake(mistake_id: str) -> Mistake:
    """The mistake of that id. Raises ``ValueError`` where there is none, with the ids that look like it."""
    for candidate in MISTAKES:
        if candidate.id == mistake_id:
            return candidate
    near = get_close_matches(mistake_id, [candidate.id for candidate in MISTAKES])
    hint = f"did you mean {' or '.join(near)}?" if near else "linattn mutants --list shows them"
    raise ValueError(f"there is no mistake {mistake_id!r}; {hint}")
