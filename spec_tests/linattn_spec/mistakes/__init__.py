"""The catalogue of mistakes: one list, used as mutants that measure the suite and as signatures that name a fault."""

from linattn_spec.mistakes.causality import CAUSALITY
from linattn_spec.mistakes.chunks import CHUNKS
from linattn_spec.mistakes.gates import GATES
from linattn_spec.mistakes.handover import STATE
from linattn_spec.mistakes.layout import LAYOUT
from linattn_spec.mistakes.normaliser import NORMALISER
from linattn_spec.mistakes.precision import MEMORY, PRECISION
from linattn_spec.mistakes.record import Mistake
from linattn_spec.mistakes.recurrence import RECURRENCE
from linattn_spec.mistakes.triangular import TRIANGULAR

MISTAKES: tuple[Mistake, ...] = (
    GATES + LAYOUT + RECURRENCE + CAUSALITY + STATE + CHUNKS + TRIANGULAR + NORMALISER + PRECISION + MEMORY
)


def mistake(mistake_id: str) -> Mistake:
    """The mistake of that id. Raises ``ValueError`` where there is none."""
    for candidate in MISTAKES:
        if candidate.id == mistake_id:
            return candidate
    raise ValueError(f"there is no mistake {mistake_id!r}; linattn mutants lists them")
