"""A backend whose functions, told apart by their labels, do what native code does when it goes wrong."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import linattn
from linattn_spec import Backend, Unsupported
from linattn_spec.backends.numpy_folds import with_signature

BACKEND_FILE = __file__
backend = Backend("misbehaving", layout="BHTD")


def right(**arguments: Any) -> Any:
    return linattn.prefill("linear_attention", **arguments)


def hangs_with_the_gil(**_: Any) -> None:
    """``PyDLL`` keeps the global interpreter lock: nothing in this process can stop it."""
    ctypes.PyDLL("kernel32").Sleep(60_000) if os.name == "nt" else ctypes.PyDLL(None).sleep(60)


def exits(**_: Any) -> None:
    os._exit(7)


def aborts(**_: Any) -> None:
    os.abort()


def is_killed(**_: Any) -> None:
    """As by a system that runs out of memory."""
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def names_its_process(**_: Any) -> None:
    raise Unsupported(f"process {os.getpid()}")


def leaves(**_: Any) -> None:
    sys.exit("no device")


def raises(**_: Any) -> None:
    raise ValueError("K must be 64")


class Unprintable(Exception):
    def __str__(self) -> str:
        raise UnicodeError("not text")


def raises_the_unprintable(**_: Any) -> None:
    raise Unprintable


def returns_nothing(**_: Any) -> None:
    return None


def returns_text(**_: Any) -> str:
    return "output"


def returns_objects(**_: Any) -> Any:
    return object(), object()


def returns_a_triple(q: Any, **_: Any) -> Any:
    return q, q, q


def returns_one_number(**_: Any) -> float:
    return 3.0


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    right, hangs_with_the_gil, exits, aborts, is_killed, names_its_process, leaves, raises, raises_the_unprintable,
    returns_nothing, returns_text, returns_objects, returns_a_triple, returns_one_number,
)  # fmt: skip

for function in FUNCTIONS:
    capable = with_signature(function, ["q", "k", "v", "scale", "initial_state"])
    backend.implements("linear_attention", "recurrent", label=function.__name__)(capable)
