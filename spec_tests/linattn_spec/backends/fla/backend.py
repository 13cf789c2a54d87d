"""All of its functions, as one backend."""

import fla

from linattn_spec.backend import Backend
from linattn_spec.backends.fla import caches, delta_rules, foundation, memories, outer_products

backend = Backend("flash-linear-attention", version=fla.__version__, array="torch")
FILES = (foundation, delta_rules, outer_products, caches, memories)
for kernel in (kernel for file in FILES for kernel in file.KERNELS):
    backend.implements(kernel.variant, kernel.form, kernel.accepts, **kernel.options)(kernel.call)
