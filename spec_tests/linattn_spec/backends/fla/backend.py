"""All of its functions, as one backend."""

import fla

from linattn_spec.backend import Backend
from linattn_spec.backends.fla import delta_rules, foundation, memories, outer_products

backend = Backend("flash-linear-attention", version=fla.__version__, array="torch")
for kernel in (*foundation.KERNELS, *delta_rules.KERNELS, *outer_products.KERNELS, *memories.KERNELS):
    backend.implements(kernel.variant, kernel.form, kernel.accepts, **kernel.options)(kernel.call)
