"""An entry of known failures as a test writes it, and a backend that it is about."""

from linattn_spec import Backend

ENTRY = {
    "check": "gla/odd-dims:recurrent:fp32:golden",
    "backend": "mylib",
    "seen": "1.32.0",
    "reason": "rounds the gates",
    "link": "https://example.org/7",
}


def backend(version="1.32.0"):
    found = Backend("mylib", version=version, profiles=("fp32", "fp64"))
    for variant in ("gla", "kda"):
        for label in ("", "fused"):
            found.implements(variant, "recurrent", label=label)(lambda q, k, v, log_decay, initial_state: None)
    return found
