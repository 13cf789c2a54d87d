"""The power of the suite on stabilised memories and on slots, in the form with most mistakes."""

import pytest

import linattn
from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.denominators import DENOMINATORS
from linattn_spec.mistakes.exponential_weights import EXPONENTIAL_WEIGHTS
from linattn_spec.mistakes.power import trials
from linattn_spec.mistakes.slots import SLOTS
from linattn_spec.mistakes.slstm_cells import SLSTM_CELLS
from linattn_spec.mistakes.stabilised import STABILISER

OWN = STABILISER + EXPONENTIAL_WEIGHTS + DENOMINATORS + SLOTS + SLSTM_CELLS
PLACES = [
    ("mlstm", "fp32"),
    ("mlstm_sigmoid", "bf16"),
    ("mlstm_sigmoid_normalised", "fp16"),
    ("rwkv4", "bf16"),
    ("exp_linear_attention", "fp32"),
    ("lightnet", "fp16"),
    ("slstm", "fp32"),
    ("abc", "bf16"),
    ("gsa", "fp32"),
]


@pytest.mark.parametrize(("variant", "profile"), PLACES)
def test_every_mistake_of_its_own_is_rejected_named_and_stands_out(variant, profile):
    record = linattn.variant(variant)
    found = trials(variant, record.usual_form, (profile,), tuple(one.id for one in OWN))
    golden = {trial.mistake: trial for trial in found if trial.check == "golden"}
    assert golden.keys() == {o.id for o in OWN if o.applies(record, record.usual_form) and profile in o.profiles}
    assert [trial for trial in found if not trial.killed] == []
    assert [trial for trial in golden.values() if not (trial.is_named and trial.resolved)] == []


def test_every_mistake_of_the_family_is_made_in_it():
    names = {v for v, _ in PLACES}
    assert all(any(o.applies(linattn.variant(v), linattn.variant(v).usual_form) for v in names) for o in OWN)
    assert set(OWN) <= set(MISTAKES)
