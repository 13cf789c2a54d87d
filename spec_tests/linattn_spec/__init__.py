"""The conformance suite: describe an implementation as a ``Backend``, and it is judged against the proven values.

``linattn check BACKEND`` is the command; ``check`` below serves users' own tests. Names are imported when they are
first used: pytest loads the plugin of this package in every session, also where nobody wants the suite.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linattn_spec.backend import Backend, Unsupported
    from linattn_spec.loading import NoBackend, load
    from linattn_spec.profiles import PROFILES, Profile
    from linattn_spec.quick import check

__all__ = ["PROFILES", "Backend", "NoBackend", "Profile", "Unsupported", "check", "load"]

HOMES = {"PROFILES": "profiles", "Profile": "profiles", "check": "quick", "NoBackend": "loading", "load": "loading"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return getattr(import_module(f"{__name__}.{HOMES.get(name, 'backend')}"), name)
