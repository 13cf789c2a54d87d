r"""Normalisations along the last axis: of keys and queries before the operator, of its output after it.

.. math::

    \text{l2\_norm} &= \frac{x}{\sqrt{\sum_d x_d^2 + \epsilon}}, \qquad
    \text{l2\_norm\_clamped} = \frac{x}{\max(\lVert x \rVert, \epsilon)}, \qquad
    \text{sum\_norm} = \frac{x}{\sum_d x_d + \epsilon} \\
    \text{rms\_norm} &= w \frac{x}{\sqrt{\tfrac{1}{D} \sum_d x_d^2 + \epsilon}}, \qquad
    \text{layer\_norm} = w \frac{x - \bar x}{\sqrt{\tfrac{1}{D} \sum_d (x_d - \bar x)^2 + \epsilon}} + b

Only a clamped norm makes unit vectors of all that are longer than eps. With eps under the root a unit vector gets the
length 1 - eps/2, and one of length sqrt(eps) is shortened to 1/sqrt(2). Squares must not overflow: |x| < 1e154 in
float64, 1e19 in float32.

=====================================  =========================================================================
l2_norm, eps = 1e-6                    keys and queries of delta rules in fla and transformers
l2_norm_clamped, eps = 1e-12           RWKV-7 (``torch.nn.functional.normalize``)
sum_norm, eps = 0 or 1e-5              lmtool-fwp, after a non-negative feature map; no eps in the paper
rms_norm                               torchscale's RetNet (its "group norm"): per head, without weight
gated_rms_norm, norm before the gate   Gated DeltaNet in fla and transformers (Qwen3-Next); KDA with a sigmoid
gated_rms_norm, gate before the norm   Mamba-2 (``norm_before_gate=False``), Zamba2, with groups
group_norm, eps = 64e-5                RWKV-5 and 6 (1e-5 * 8^2) and 7: a layer norm per head
=====================================  =========================================================================

Places in papers: sum_norm in section 4.2 of arXiv:2102.11174. RetNet (arXiv:2307.08621), (8), has a group norm, which
subtracts the mean, where torchscale does not. Mamba-2 (arXiv:2405.21060), section 8.1, has the gate before a group
norm, its code a root mean square. Gated DeltaNet (arXiv:2412.06464), section 3.4: the L2 norm of keys and queries, and
the norm of the output before the gate. RWKV-5 (arXiv:2404.05892), section 4.1.2: a layer norm per head. None gives eps.
"""

from typing import Any

import numpy as np

from linattn.activations import activation
from linattn.algebra import dot, maximum

Array = Any


def l2_norm(x: Array, eps: Any = 1e-6) -> Array:
    """eps is added under the root. 0 stays 0."""
    return x / np.sqrt(dot(x, x) + eps)


def l2_norm_clamped(x: Array, eps: Any = 1e-12) -> Array:
    """The length is at least eps. 0 stays 0; the maximum stands under the root, which has no derivative at 0."""
    squared = dot(x, x)
    return x / np.sqrt(maximum(squared, 0 * squared + eps * eps))


def sum_norm(x: Array, eps: Any = 0) -> Array:
    """The sum becomes 1, for features that are not negative. With eps = 0, a sum of 0 gives NaN."""
    return x / (x.sum(axis=-1, keepdims=True) + eps)


def rms_norm(x: Array, weight: Any = 1, eps: Any = 1e-6, groups: int = 1) -> Array:
    """Every group of neighbouring channels has a root mean square of its own. The weight is (D,)."""
    return weight * per_group(x, groups, lambda part: part / np.sqrt(mean(part * part) + eps))


def gated_rms_norm(
    x: Array,
    gate: Array,
    weight: Any = 1,
    eps: Any = 1e-6,
    groups: int = 1,
    norm_before_gate: bool = True,
    gate_activation: str = "silu",
) -> Array:
    """rms_norm(x) act(gate), or rms_norm(x act(gate)): two functions under one name in libraries."""
    opened = activation(gate_activation)(gate)
    if norm_before_gate:
        return rms_norm(x, weight, eps, groups) * opened
    return rms_norm(x * opened, weight, eps, groups)


def layer_norm(x: Array, weight: Any = 1, bias: Any = 0, eps: Any = 1e-5) -> Array:
    return group_norm(x, 1, weight, bias, eps)


def group_norm(x: Array, groups: int, weight: Any = 1, bias: Any = 0, eps: Any = 1e-5) -> Array:
    """A layer norm of every group of neighbouring channels."""

    def normalised(part: Array) -> Array:
        centred = part - mean(part)
        return centred / np.sqrt(mean(centred * centred) + eps)

    return weight * per_group(x, groups, normalised) + bias


def mean(x: Array) -> Array:
    """Along the last axis, which stays."""
    return x.sum(axis=-1, keepdims=True) / x.shape[-1]


def per_group(x: Array, groups: int, normalise: Any) -> Array:
    width = x.shape[-1]
    if width % groups:
        raise ValueError(f"groups must divide the {width} channels; got {groups}")
    return normalise(x.reshape(*x.shape[:-1], groups, width // groups)).reshape(x.shape)
