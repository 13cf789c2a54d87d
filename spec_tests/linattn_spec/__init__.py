"""The conformance suite: describe an implementation as a ``Backend``, and it is judged against the proven values.

``linattn check BACKEND`` is the command; ``check`` below serves users' own tests.
"""

from linattn_spec.backend import Backend, NoBackend, Unsupported, load
from linattn_spec.profiles import PROFILES, Profile
from linattn_spec.quick import check

__all__ = ["PROFILES", "Backend", "NoBackend", "Profile", "Unsupported", "check", "load"]
