"""Feature maps, elementwise or along the last axis, with the properties that a user may rely on.

They run before the operator and on every number system that has the functions they use. What is random or learned (W,
centres) is an input.

The normaliser z.q sums the weights phi(q).phi(k). ``normalised_linear_attention`` divides by z.q + eps as it is:

- all weights 0 (``relu``): 0 / eps = 0, and NaN with eps = 0;
- weights that cancel (signed maps, such as ``sin_cos``): infinite with eps = 0, unless the numerator vanishes too;
- a negative sum: the weights still sum to 1 after the division, but some are negative or above 1, and the output leaves
  the convex hull of the values;
- T = 1: v, whatever the sign of q.k, as long as it is not 0.

Libraries clamp the denominator (cosFormer at 1e-6) or the features (lolcats at 1e-12) instead: other functions
wherever that can be seen.
"""

from linattn.features import elementwise, gaussian, polynomial, softmaxes
from linattn.features.elementwise import elu_plus_one, one_sin_cos, relu, sin_cos
from linattn.features.feature_map import FeatureMap
from linattn.features.polynomial import symmetric_power

FEATURE_MAPS: tuple[FeatureMap, ...] = (*elementwise.MAPS, *gaussian.MAPS, *polynomial.MAPS, *softmaxes.MAPS)


def feature_map(name: str) -> FeatureMap:
    """The feature map of that name. Raises ``ValueError`` with the names there are."""
    for candidate in FEATURE_MAPS:
        if candidate.name == name:
            return candidate
    raise ValueError(f"feature map must be one of {', '.join(m.name for m in FEATURE_MAPS)}; got {name!r}")


__all__ = [
    "FEATURE_MAPS",
    "FeatureMap",
    "elu_plus_one",
    "feature_map",
    "one_sin_cos",
    "relu",
    "sin_cos",
    "symmetric_power",
]
