"""The catalogue of mistakes: one list, used as mutants that measure the suite and as signatures that name a fault."""

from difflib import get_close_matches

from linattn_spec.mistakes.angles import ANGLES
from linattn_spec.mistakes.beta import BETA
from linattn_spec.mistakes.cache import CACHE
from linattn_spec.mistakes.cached_keys import CACHED_KEYS
from linattn_spec.mistakes.calls import CALLS
from linattn_spec.mistakes.causality import CAUSALITY
from linattn_spec.mistakes.chunks import CHUNKS
from linattn_spec.mistakes.complex_decays import COMPLEX_DECAYS
from linattn_spec.mistakes.complex_states import COMPLEX_STATES
from linattn_spec.mistakes.corrected_cache import CORRECTED_CACHE
from linattn_spec.mistakes.decays import DECAYS
from linattn_spec.mistakes.denominators import DENOMINATORS
from linattn_spec.mistakes.distances import DISTANCES
from linattn_spec.mistakes.entries import BATCH
from linattn_spec.mistakes.erase_gates import ERASE_GATES
from linattn_spec.mistakes.erase_keys import ERASE_KEYS
from linattn_spec.mistakes.exponential_weights import EXPONENTIAL_WEIGHTS
from linattn_spec.mistakes.gated_scans import GATED_SCANS
from linattn_spec.mistakes.gates import GATES
from linattn_spec.mistakes.gates_inside import GATES_INSIDE
from linattn_spec.mistakes.handover import STATE
from linattn_spec.mistakes.heads import HEADS
from linattn_spec.mistakes.hierarchy import HIERARCHY
from linattn_spec.mistakes.householders import SEVERAL_RULES
from linattn_spec.mistakes.inside import INSIDE
from linattn_spec.mistakes.kernels import KERNELS
from linattn_spec.mistakes.layer_norms import LAYER_NORMS
from linattn_spec.mistakes.layout import LAYOUT
from linattn_spec.mistakes.least_squares import LEAST_SQUARES
from linattn_spec.mistakes.lstm_cells import LSTM_CELLS
from linattn_spec.mistakes.memory import MEMORY
from linattn_spec.mistakes.mini_batches import MINI_BATCHES
from linattn_spec.mistakes.normaliser import NORMALISER
from linattn_spec.mistakes.operands import OPERANDS
from linattn_spec.mistakes.own_token import OWN_TOKEN
from linattn_spec.mistakes.positions import POSITIONS
from linattn_spec.mistakes.precision import PRECISION
from linattn_spec.mistakes.ragged import RAGGED
from linattn_spec.mistakes.recall import RECALL
from linattn_spec.mistakes.record import Mistake
from linattn_spec.mistakes.recurrence import RECURRENCE
from linattn_spec.mistakes.recurrent_networks import RECURRENT_NETWORKS
from linattn_spec.mistakes.retnet_norm import RETNET_NORM
from linattn_spec.mistakes.rotations import ROTATIONS
from linattn_spec.mistakes.scale import SCALE
from linattn_spec.mistakes.scan_inputs import SCAN_INPUTS
from linattn_spec.mistakes.scans import SCANS
from linattn_spec.mistakes.sequences import SEQUENCES
from linattn_spec.mistakes.slots import SLOTS
from linattn_spec.mistakes.slstm_cells import SLSTM_CELLS
from linattn_spec.mistakes.stabilised import STABILISER
from linattn_spec.mistakes.step_sizes import STEP_SIZES
from linattn_spec.mistakes.sticks import STICKS
from linattn_spec.mistakes.taps import TAPS
from linattn_spec.mistakes.trapezoid import TRAPEZOID
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
    + RECALL
    + LEAST_SQUARES
    + MINI_BATCHES
    + LAYER_NORMS
    + HIERARCHY
    + ERASE_KEYS
    + ERASE_GATES
    + SEVERAL_RULES
    + DISTANCES
    + CORRECTED_CACHE
    + CACHED_KEYS
    + STICKS
    + STEP_SIZES
    + POSITIONS
    + CALLS
    + SCAN_INPUTS
    + SCANS
    + GATED_SCANS
    + COMPLEX_STATES
    + RECURRENT_NETWORKS
    + LSTM_CELLS
    + ANGLES
    + ROTATIONS
    + COMPLEX_DECAYS
    + RETNET_NORM
    + TRAPEZOID
    + SEQUENCES
    + STABILISER
    + EXPONENTIAL_WEIGHTS
    + DENOMINATORS
    + SLOTS
    + SLSTM_CELLS
)


def mistake(mistake_id: str) -> Mistake:
    """The mistake of that id. Raises ``ValueError`` where there is none, with the ids that look like it."""
    for candidate in MISTAKES:
        if candidate.id == mistake_id:
            return candidate
    near = get_close_matches(mistake_id, [candidate.id for candidate in MISTAKES])
    hint = f"did you mean {' or '.join(near)}?" if near else "linattn mutants --list shows them"
    raise ValueError(f"there is no mistake {mistake_id!r}; {hint}")
