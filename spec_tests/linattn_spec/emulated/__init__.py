"""Right implementations of lower precision, emulated: what a kernel may do, and what the units must allow."""

from linattn_spec.emulated.catalogue import kernels
from linattn_spec.emulated.kernel import Kernel, stored

__all__ = ["Kernel", "kernels", "stored"]
