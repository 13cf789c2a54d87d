"""Every feature map with parameters to call it with."""

from typing import Any

import numpy as np
import pytest

from linattn import FEATURE_MAPS
from linattn.features import FeatureMap

RNG = np.random.default_rng(0)
PARAMETERS: dict[str, Any] = {  # for K = 3
    "W": RNG.normal(size=(4, 3)),
    "centres": RNG.normal(size=(5, 3)),
    "sigma": 1.5,
    "degree": 2,
    "nu": 2,
    "gamma": np.array([0.5, 1, 2]),
    "beta": np.array([0.25, -1, 0]),
    "eps": 2.0**-16,
}


def each(maps: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("phi", list(maps), ids=lambda phi: phi.name)


EACH_MAP = each(FEATURE_MAPS)


def given(phi: FeatureMap, **other: Any) -> dict[str, Any]:
    """The parameters of the map."""
    return {name: (PARAMETERS | other)[name] for name in phi.parameters}
