"""Laws: what relates the results of one function to each other, in files of one idea each."""

from linattn_spec.laws.causality import CAUSALITY
from linattn_spec.laws.law import Law
from linattn_spec.laws.memory import MEMORY
from linattn_spec.laws.symmetry import SYMMETRY

LAWS: tuple[Law, ...] = CAUSALITY + SYMMETRY + MEMORY
