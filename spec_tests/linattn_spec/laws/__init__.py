"""Laws: what relates the results of one function to each other, in files of one idea each."""

from linattn_spec.laws.agreement import AGREEMENT
from linattn_spec.laws.causality import CAUSALITY
from linattn_spec.laws.contract import CONTRACT
from linattn_spec.laws.gradients import GRADIENTS
from linattn_spec.laws.law import Law
from linattn_spec.laws.linearity import LINEARITY
from linattn_spec.laws.memory import MEMORY
from linattn_spec.laws.packing import PACKING
from linattn_spec.laws.padding import PADDING
from linattn_spec.laws.properties import PROPERTIES
from linattn_spec.laws.symmetry import SYMMETRY

LAWS: tuple[Law, ...] = (
    CAUSALITY + PADDING + SYMMETRY + LINEARITY + PACKING + AGREEMENT + MEMORY + CONTRACT + GRADIENTS + PROPERTIES
)
