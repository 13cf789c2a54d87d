"""A variant that is not ours and a backend for it, as files of a researcher: for the tests of what they get."""

from pathlib import Path

from commandline import run

FILE = "my_variant.py"

# Right, token by token, in NumPy alone.
BACKEND = """
import numpy as np

from linattn_spec import Backend

backend = Backend("loop over tokens")


@backend.implements("filtered_gla", form="recurrent", accepts="Hq == Hk and Hk == Hv")
def loop(q, k, v, log_decay, log_pole, gain, scale, initial_state):
    B, T, H, K = q.shape
    V, F = v.shape[-1], gain.shape[-1]
    S, m = initial_state or (np.zeros((B, H, K, V), np.float32), np.zeros((B, H, F, V), np.float32))
    pole, outputs = np.exp(log_pole)[..., None], []
    for t in range(T):
        m = pole * m + (1 - pole) * v[:, t, :, None]
        u = np.einsum("hf,bhfv->bhv", gain, m)
        S = np.exp(log_decay[:, t])[..., None, None] * S + np.einsum("bhk,bhv->bhkv", k[:, t], u)
        outputs.append(np.float32(scale) * np.einsum("bhk,bhkv->bhv", q[:, t], S))
    return np.stack(outputs, axis=1), (S, m)
"""


def write(name, text, *changes):
    """A text with parts replaced: pairs of old and new."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    Path(name).write_text(text)
    return name


def write_variant(name, *changes):
    """The one that ``linattn new-variant`` writes."""
    assert run("new-variant", name) == 0
    return write(name, Path(name).read_text(), *changes)


def write_backend(name, *changes):
    return write(name, BACKEND, *changes)
