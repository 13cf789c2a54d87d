"""The command line in this process or another one, and an adapter as a file: for the tests of the commands."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import linattn
import linattn_golden
import linattn_spec
import linattn_tools
from linattn_tools import cli

ROOTS = [str(Path(package.__file__).parents[1]) for package in (linattn, linattn_golden, linattn_spec, linattn_tools)]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(ROOTS), "PYTHONUNBUFFERED": ""}  # "": buffered, as usual
SMALL = "Hq == Hk and Hk == Hv and K < 64"  # no grouped heads, no recipes

# Right, in NumPy alone. Whichever process calls a function, ``called`` counts it.
ADAPTER = f'''
from pathlib import Path

import numpy as np
from linattn_spec import Backend, Unsupported

backend = Backend("Hand <made>", version="1.2")
FACTOR = 1.0


def count():
    with Path(__file__).with_suffix(".calls").open("a") as calls:
        calls.write("called\\n")


def total(x, start):
    return np.cumsum(x, axis=1) + (0 if start is None else start[:, None])


@backend.implements("linear_attention", form="recurrent", accepts="{SMALL}")
def linear(q, k, v, scale, initial_state):
    count()
    if q.ndim != 4:
        raise Unsupported("four axes only")
    S = total(np.einsum("bthk,bthv->bthkv", k, v), initial_state)
    return FACTOR * scale * np.einsum("bthk,bthkv->bthv", q, S), S[:, -1]


@backend.implements("normalised_linear_attention", form="recurrent", accepts="{SMALL}")
def normalised(q, k, v, eps, initial_state):
    count()
    S, z = initial_state or (None, None)
    S, z = total(np.einsum("bthk,bthv->bthkv", k, v), S), total(k, z)
    weights = np.einsum("bthk,bthk->bth", q, z)[..., None] + np.float32(eps)
    return FACTOR * np.einsum("bthk,bthkv->bthv", q, S) / weights, (S[:, -1], z[:, -1])


@backend.implements("linear_attention", form="bidirectional", accepts="{SMALL}")
def _(q, k, v, scale):
    count()
    return FACTOR * scale * np.einsum("bthk,bhkv->bthv", q, np.einsum("bthk,bthv->bhkv", k, v))
'''


class OneThread(ThreadPoolExecutor):
    """The work of the processes, in this one: it starts faster, and sees what a test has changed."""

    def __init__(self, mp_context):
        super().__init__(max_workers=1)


def write_adapter(path, *changes):
    """The adapter with parts of its text replaced: pairs of old and new."""
    text = ADAPTER
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return path


def called(path):
    """How often the functions of the adapter were called."""
    calls = path.with_suffix(".calls")
    return len(calls.read_text().splitlines()) if calls.exists() else 0


def run(*words):
    """The exit code of ``linattn WORDS``, in this process."""
    try:
        return cli.main([str(word) for word in words])
    except SystemExit as end:  # of argparse, after help and wrong usage
        return end.code


def python(*words, **options):
    """Another interpreter, which finds the packages as this one does."""
    defaults = {"env": ENVIRONMENT, "capture_output": True, "text": True, "timeout": 600}
    return subprocess.run([sys.executable, *map(str, words)], **defaults | options)
