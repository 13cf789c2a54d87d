"""The laws are theorems: over the finite field the reference obeys each of them exactly, where it is said to apply."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from drawing import SIZES, over_field

import linattn
from linattn import Variant, forms
from linattn.numbers import field
from linattn.record import Input
from linattn_spec import PROFILES, verdict
from linattn_spec.backend import Conventions, Function
from linattn_spec.backends.numpy_folds import with_signature
from linattn_spec.laws import linearity, padding
from linattn_spec.laws.causality import CAUSALITY
from linattn_spec.laws.law import Law
from linattn_spec.laws.symmetry import SYMMETRY

LAWS = [law for law in (*CAUSALITY, *padding.PADDING, *SYMMETRY, *linearity.LINEARITY) if law.name != "empty"]
IN_EXPONENTS = {v.name for v in linattn.VARIANTS if v.has("scale") and v.input("scale").kind == "log"}
HALVED = {(name, "scale") for name in IN_EXPONENTS}  # not every exponent has a half
FAR_OUT = {("sigmoid_gating_delta_rule", law) for law in ("neutral", "padding")}  # before their sigmoid
LEADING = (2, 2)  # batch entries and heads
FORMS = [(v.name, form) for v in linattn.VARIANTS for form in ("recurrent", "bidirectional") if form in v.forms]


@dataclass(frozen=True)
class OverTheField:
    """What ``Exchange`` is to a backend, for the reference itself."""

    variant: Variant
    form: str
    profile = PROFILES["fp64"]

    @property
    def function(self) -> Function:
        names = [item.name for item in self.variant.inputs] + ["initial_state"]
        call = with_signature(lambda: None, names)
        return Function(self.variant.name, self.form, call, "", Conventions(), (self.profile,))

    def __call__(self, inputs: dict[str, Any], state: tuple | None) -> dict[str, Any]:
        numbers = {item.name: exact(item, inputs[item.name]) for item in self.variant.inputs}
        return verdict.named(self.variant, *forms.run(self.variant, self.form, state or (), numbers))


def exact(item: Input, x: Any) -> Any:
    """The laws write plain numbers: log_decay = 0."""
    zeros = {"log": field.Log(0), "angle": field.Angle(0)}
    return x + zeros[item.kind] if item.kind in zeros and item.axes else x


def subject(name: str, form: str) -> Any:
    variant = linattn.variant(name)
    state, inputs = over_field(variant, leading=LEADING)
    for item in variant.inputs:
        if item.axes and item.time is None:  # a parameter has heads, and no batch
            inputs[item.name] = inputs[item.name][0]
    exchange, own = OverTheField(variant, form), None if form == "bidirectional" else state
    dims = {**SIZES, "B": LEADING[0], **dict.fromkeys(("Hq", "Hk", "Hv"), LEADING[1])}
    return SimpleNamespace(
        variant=variant,
        exchange=exchange,
        state=own,
        case=SimpleNamespace(dims=dims),
        data=SimpleNamespace(inputs=inputs),
        truth=SimpleNamespace(units={name: np.ones(x.shape) for name, x in exchange(inputs, own).items()}),
        run=lambda: exchange(inputs, own),
    )


def holds(law: Law, name: str, form: str) -> bool:
    """Exactly, in all comparisons."""
    comparisons = list(law.compare(subject(name, form)))
    assert comparisons
    return all(np.array_equal(x, c.want[key]) for c in comparisons for key, x in c.got.items())


@pytest.fixture(autouse=True)
def exact_and_small(monkeypatch):
    """No results are rounded, and 9 tokens of padding will do."""
    monkeypatch.setattr(linearity, "with_rounding", lambda units, *_: units)
    monkeypatch.setattr(padding, "BLOCK", 16)


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_every_law_holds_where_it_applies(name, form):
    function = OverTheField(linattn.variant(name), form).function
    laws = [law for law in LAWS if law.has_meaning(function) and (name, law.name) not in HALVED | FAR_OUT]
    assert [law.name for law in laws if not holds(law, name, form)] == []


@pytest.mark.parametrize("name", ["softmax_attention", "retention"])
def test_without_a_neutral_token_there_is_no_such_law(name):
    (neutral,) = (law for law in LAWS if law.name == "neutral")
    assert not neutral.has_meaning(OverTheField(linattn.variant(name), "recurrent").function)
    assert not holds(neutral, name, "recurrent")
