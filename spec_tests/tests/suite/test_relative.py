"""States relative to exp(m): implementations choose m, and are judged by what their states stand for."""

import numpy as np
import pytest

from linattn import VARIANTS, variant
from linattn_spec import Backend
from linattn_spec.backends.numpy_folds import adapter
from linattn_spec.checks import run_check
from linattn_spec.plan import Selection, plan

RELATIVE = [one.name for one in VARIANTS if any(item.relative_to for item in one.state)]
ENTRY = ("odd-dims", "long-fresh", "gates-never")

CHOICES = {
    "never below 0": lambda m: np.maximum(m, 0),
    "larger": lambda m: m + 3,
    "smaller": lambda m: m - 5,
    "0 throughout": np.zeros_like,
    "-1e30 for log 0": lambda m: np.maximum(m, -1e30),
    "the largest of all channels": lambda m: np.broadcast_to(m.max(axis=-1, keepdims=True), m.shape),
}


def rescaled(record, state, choose):
    """The same memory relative to another m, rounded once."""
    tensors = {item.name: x for item, x in zip(record.state, state, strict=True)}
    m = tensors["m"].astype(float)
    own = choose(tensors["m"]).astype(np.float32)
    with np.errstate(invalid="ignore"):
        factor = np.where(np.isneginf(m), 0, np.exp(m - own))
    for item in record.state:
        if item.relative_to:
            x = tensors[item.name]
            tensors[item.name] = (x * (factor[..., None] if x.ndim > m.ndim else factor)).astype(np.float32)
    return tuple({**tensors, "m": own}.values())


def forgotten(record, state, choose):
    """Another m beside the memory as it was."""
    return tuple(choose(x).astype(x.dtype) if i.name == "m" else x for i, x in zip(record.state, state, strict=True))


def with_states(name, change, choose):
    """Our own folds, but for the m of the states that they return."""
    record = variant(name)
    backend = Backend("another m", profiles=("fp32",), layout="BHTD")
    for form in {"recurrent", record.usual_form}:
        fold = adapter(record, form)

        def call(fold=fold, **given):
            output, state = fold(**given)
            return output, change(record, state, choose)

        call.__signature__ = fold.__signature__
        backend.implements(name, form)(call)
    return backend


def wrong(backend):
    """What is not accepted, of golden values and laws on some cases. Bits may differ."""
    checks = [check for check in plan(backend, Selection(profiles=("fp32",))) if check.scenario in ENTRY]
    assert {check.kind for check in checks} >= {"golden", "split", "packing", "empty", "agreement", "reversal"}
    results = [run_check(backend, check) for check in checks]
    return [f"{r.check.id}: {r.reason}" for r in results if r.status not in ("pass", "unsupported", "noted")]


@pytest.mark.parametrize("choose", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("name", RELATIVE)
def test_another_m_with_a_state_that_fits_it_is_right(name, choose):
    assert wrong(with_states(name, rescaled, choose)) == []


@pytest.mark.parametrize("choose", [CHOICES["larger"], CHOICES["smaller"], CHOICES["0 throughout"]])
@pytest.mark.parametrize("name", RELATIVE)
def test_another_m_alone_is_wrong(name, choose):
    found = wrong(with_states(name, forgotten, choose))
    assert any(":golden" in one and "final_state" in one for one in found)
    assert any(":split" in one for one in found)


def with_phases(name, change):
    """Our own folds, but for the phases that they return."""
    record = variant(name)
    backend = Backend("another phase", profiles=("fp32",), layout="BHTD")
    for form in ("recurrent", "chunkwise"):
        fold = adapter(record, form)

        def call(fold=fold, **given):
            output, state = fold(**given)
            pairs = zip(record.state, state, strict=True)
            return output, tuple(change(x).astype(x.dtype) if item.kind == "angle" else x for item, x in pairs)

        call.__signature__ = fold.__signature__
        backend.implements(name, form)(call)
    return backend


TURNING = [one.name for one in VARIANTS if any(item.kind == "angle" for item in one.state)]


@pytest.mark.parametrize("name", TURNING)
def test_a_phase_modulo_one_turn_is_right(name):
    """As in the code of Mamba-3, and between -pi and pi."""
    assert wrong(with_phases(name, lambda x: x % (2 * np.pi))) == []
    assert wrong(with_phases(name, lambda x: np.angle(np.exp(1j * x)))) == []


@pytest.mark.parametrize("turn", [np.pi, np.pi / 2, 2 * np.pi / 3])
@pytest.mark.parametrize("name", TURNING)
def test_part_of_a_turn_is_wrong(name, turn):
    assert wrong(with_phases(name, lambda x: x + turn))
