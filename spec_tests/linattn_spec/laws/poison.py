"""A law of memory: what memory held before the call is in no result."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import combinations
from typing import Any
from unittest.mock import patch

import numpy as np

from linattn_spec.comparison import Comparison
from linattn_spec.exchange import Results, groups
from linattn_spec.laws.law import SLACK
from linattn_spec.subject import Subject

SMALL, LARGEST = 2**16, 2**18  # bytes: many blocks of the small sizes, as allocators keep several freed ones for reuse
ITEM_SIZES = (1, 2, 4, 8)


def poison(subject: Subject) -> Iterator[Comparison]:
    """No result depends on what memory held before the call."""
    clean, poisoned = called_on(subject, 0x00), called_on(subject, 0xFF)
    yield Comparison(poisoned, clean, subject.truth.units, SLACK, "memory full of NaN, not of zeros: ")


def called_on(subject: Subject, byte: int) -> Results:
    """The results of a call that finds memory full of ``byte``; bytes of 0xFF are NaN in every dtype."""
    exchange = subject.exchange
    arguments = exchange.arguments(subject.data.inputs, subject.state)
    with FILLS.get(exchange.backend.array, nullcontext)(byte):
        kept = holes(tuple(subject.case.dims.values()), byte)
        returned = exchange.function.call(**arguments)
    del kept
    return exchange.results(returned, groups(subject.variant, subject.data.inputs))


def holes(dims: tuple[int, ...], byte: int) -> list[np.ndarray]:
    """Free memory full of ``byte`` in blocks as large as any array of some of these dimensions.

    Of what was allocated every second block is freed: those in between, which are returned, keep the holes apart.
    """
    axes = (*dims, max(dims))  # a sequence may meet itself
    counts = {math.prod(some) for n in range(len(axes) + 1) for some in combinations(axes, n)}
    sizes = {count * size for count in counts for size in ITEM_SIZES if count * size <= LARGEST}
    blocks = [np.full(size, byte, dtype=np.uint8) for size in sorted(sizes) for _ in range(16 if size <= SMALL else 4)]
    return blocks[::2]


@contextmanager
def numpy_fills(byte: int) -> Iterator[None]:
    """What NumPy leaves uninitialised on request is filled, as a hole may have been used in the meantime."""

    def filled(make: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        def call(*arguments: Any, **options: Any) -> np.ndarray:
            x = make(*arguments, **options)
            if x.dtype.kind == "f":
                x.fill(np.nan if byte else 0)
            return x

        return call

    with patch.multiple(np, empty=filled(np.empty), empty_like=filled(np.empty_like)):
        yield


@contextmanager
def torch_fills(byte: int) -> Iterator[None]:
    """PyTorch fills with NaN by itself where it is asked for deterministic algorithms."""
    import torch

    enabled, warns = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(enabled or bool(byte), warn_only=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of algorithms that are not
            yield
    finally:
        torch.use_deterministic_algorithms(enabled, warn_only=warns)


FILLS = {"numpy": numpy_fills, "torch": torch_fills}
