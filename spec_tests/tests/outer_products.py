"""The variants that write outer products and forget entry by entry."""

import hashlib

import pytest

from linattn.numbers import field
from linattn.variants import (
    cosformer,
    gated_rfa,
    gla,
    hadamard_gated_linear_attention,
    hgrn2,
    lightning_attention,
    linear_attention,
    mamba,
    mamba2,
    metala,
    normalised_linear_attention,
    power_attention,
    retention,
    rwkv5,
    rwkv6,
    simple_gla,
)

NEW = tuple(
    module.VARIANT
    for module in (
        hadamard_gated_linear_attention,
        hgrn2,
        metala,
        gated_rfa,
        lightning_attention,
        power_attention,
        cosformer,
        mamba,
        mamba2,
        rwkv5,
        rwkv6,
    )
)
KNOWN = (linear_attention, normalised_linear_attention, retention, simple_gla, gla)
BY_NAME = {v.name: v for v in (*NEW, *(module.VARIANT for module in KNOWN))}

AT_ZERO = {"exp": 1, "cos": 1, "sin": 0}


@pytest.fixture(autouse=True)
def functions_of_numbers(monkeypatch):
    """A function of a field number is any number that depends on it alone: what holds then holds for all functions."""

    def function(name):
        def apply(x):
            digest = hashlib.blake2b(f"{name} {x.value}".encode()).digest()
            return field.Number(int.from_bytes(digest) if x.value else AT_ZERO[name])

        return apply

    for name in AT_ZERO:
        monkeypatch.setattr(field.Number, name, function(name), raising=False)


def empty(state):
    return tuple(x - x for x in state)
