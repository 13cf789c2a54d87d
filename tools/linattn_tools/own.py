"""A variant of one's own in a command: its file stands where a name does."""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

import linattn
import linattn_golden
from linattn import Variant, own
from linattn_spec import drawn
from linattn_tools import identities

Command = Callable[[argparse.Namespace], int]


def admitted(run: Command) -> Command:
    """A command that finds the variants of the files among ``options.variant`` by their names, and their golden values,
    which are proven first.
    """

    def with_files(options: argparse.Namespace) -> int:
        options.files = [name for name in options.variant if name.endswith(".py")]
        if not options.files:
            return run(options)
        records = {file: found(file) for file in options.files}
        options.variant = [records[name].name if name in records else name for name in options.variant]
        usual, options.extra = options.extra, "certify"
        with named(options.files), proven(list(records.values())):
            options.extra = usual
            return run(options)

    return with_files


def named(files: list[str]) -> AbstractContextManager[None]:
    """Their variants are found by name, in this process and in those that it starts."""
    return environment(own.FILES, [str(Path(file).resolve()) for file in files if file.endswith(".py")])


@contextmanager
def proven(variants: list[Variant]) -> Iterator[None]:
    """So are their golden values, until the end of the command."""
    from linattn_tools.golden import generator

    with tempfile.TemporaryDirectory() as folder:
        generator.generate(Path(folder), variants)
        with environment(linattn_golden.FOLDERS, [folder]):
            yield


@contextmanager
def environment(name: str, paths: list[str]) -> Iterator[None]:
    """A list of paths, longer for a while: other processes inherit it."""
    before = os.environ.get(name, "")
    os.environ[name] = os.pathsep.join(dict.fromkeys([*filter(None, before.split(os.pathsep)), *paths]))
    try:
        yield
    finally:
        os.environ[name] = before


def found(name: str) -> Variant:
    """The variant of a name or of a file. Raises ``ValueError`` where a file says what cannot be."""
    variant = linattn.variant(name)
    if name.endswith(".py"):
        for item in drawn.tensors(variant):
            drawn.known(f"{name}: typical of {item.name}", item.typical)
        refuse_wrong_return(name, variant)
    return variant


def refuse_wrong_return(name: str, variant: Variant) -> None:
    """Of one token: the state and an output, in the shapes that the record says."""
    sizes = {axis: str(size) for axis, size in drawn.all_sizes(variant, identities.SIZES).items()}

    def shape(axes: str, past: int = 0) -> tuple[int, ...]:
        return tuple(int(sizes.get(axis, axis)) + past * (axis == "P") for axis in axes.split() if axis != "T")

    given = {item.name: np.ones(shape(item.axes)) for item in drawn.tensors(variant)}
    state = [given.pop(item.name) for item in variant.state]
    try:
        with np.errstate(all="ignore"):
            returned = variant.step(*state, **given)
    except Exception as failure:
        where = own.described(failure, Path(name).resolve())
        raise ValueError(f"{where}; step was called with arrays shaped as the record says") from failure
    want = {item.name: shape(item.axes, past=1) for item in variant.state} | {"output": shape(variant.output)}
    match returned:
        case (tuple(after), output) if len(after) == len(state):
            got = dict(zip(want, map(np.shape, (*after, output)), strict=True))
        case _:
            names = ", ".join(item.name for item in variant.state) + "," * (len(state) == 1)
            raise ValueError(f"{name}: step must return (({names}), output), a tuple in a tuple")
    for what, size in want.items():
        if got[what] != size:
            raise ValueError(f"{name}: {what} that step returns must have shape {size}; got {got[what]}")
