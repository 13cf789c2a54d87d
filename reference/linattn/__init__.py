"""linattn: the executable specification of linear attention.

Every variant is two functions, ``step`` (the recurrence) and ``parallel`` (the closed form), and a record; see
``linattn.variants``. ``prefill`` and ``decode`` check their arguments and run them; ``linattn.forms`` are the bare
folds, ``linattn.numbers`` the number systems on which the same code is proven. What stands around a recurrence is in
``linattn.features``, ``norms``, ``conv``, ``rotary``, ``gates``, ``slopes`` and ``discretise``.
"""

from linattn.api import decode, prefill
from linattn.features import FEATURE_MAPS, feature_map
from linattn.record import Input, Source, State, Variant
from linattn.variants import VARIANTS, variant

__version__ = "0.1.0"
__all__ = [
    "FEATURE_MAPS",
    "VARIANTS",
    "Input",
    "Source",
    "State",
    "Variant",
    "decode",
    "feature_map",
    "prefill",
    "variant",
]
