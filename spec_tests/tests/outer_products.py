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


@pytest.fixture(autouse=True)
def functions_of_numbers(monkeypatch):
    """exp of a field number is any number that depends on it alone: what holds then holds for all functions."""

    def exp(x):
        digest = hashlib.blake2b(f"{x.value}".encode()).digest()
        return field.Number(int.from_bytes(digest) if x.value else 1)

    monkeypatch.setattr(field.Number, "exp", exp, raising=False)


def empty(state):
    return tuple(x - x for x in state)
