"""The power of the suite on scans, on the networks before them and on what turns: one variant of each kind."""

from dataclasses import replace

import numpy as np
import pytest
from drawing import close
from test_power import NAMED

import linattn
import linattn_golden
from linattn import rotary
from linattn.norms import rms_norm
from linattn.variants import retention
from linattn.variants.gru import reset_after
from linattn_spec.mistakes import MISTAKES, mistake
from linattn_spec.mistakes.angles import ANGLES
from linattn_spec.mistakes.complex_decays import COMPLEX_DECAYS
from linattn_spec.mistakes.complex_states import COMPLEX_STATES
from linattn_spec.mistakes.gated_scans import GATED_SCANS
from linattn_spec.mistakes.lstm_cells import LSTM_CELLS
from linattn_spec.mistakes.power import trials
from linattn_spec.mistakes.record import call_of, right
from linattn_spec.mistakes.recurrent_networks import RECURRENT_NETWORKS
from linattn_spec.mistakes.retnet_norm import RETNET_NORM
from linattn_spec.mistakes.rotations import ROTATIONS
from linattn_spec.mistakes.scan_inputs import SCAN_INPUTS
from linattn_spec.mistakes.scans import SCANS
from linattn_spec.mistakes.trapezoid import TRAPEZOID

OF_SCANS = (*SCAN_INPUTS, *SCANS, *GATED_SCANS, *COMPLEX_STATES)
OF_NETWORKS = (*RECURRENT_NETWORKS, *LSTM_CELLS)
OF_ROTATIONS = (*ANGLES, *ROTATIONS, *COMPLEX_DECAYS, *RETNET_NORM, *TRAPEZOID)
OWN = tuple(one.id for one in OF_SCANS + OF_NETWORKS + OF_ROTATIONS)


@pytest.mark.parametrize(
    ("variant", "form"), [("rg_lru", "parallel"), ("lru", "recurrent"), ("lstm", "recurrent"), ("mamba3", "recurrent")]
)
def test_all_mutants_are_rejected_and_named(variant, form):
    found = trials(variant, form, ("fp32", "bf16"), OWN)
    golden = [trial for trial in found if trial.check == "golden"]
    assert {trial.mistake for trial in golden} == {
        one.id for one in MISTAKES if one.id in OWN and one.applies(linattn.variant(variant), form)
    }
    assert [trial for trial in found if not trial.killed] == []
    assert [trial for trial in golden if not trial.resolved] == []
    assert sum(trial.is_named for trial in golden) >= NAMED * len(golden)


# -- mistakes are what they say: the convention of another variant, or a derivation of its own -------------------------


def made(one, variant, form="recurrent", case="odd-dims"):
    """A call of a golden case, and what the mistake makes of it."""
    data = linattn_golden.load(linattn_golden.case(f"{variant}/{case}"))
    call = call_of(linattn.variant(variant), form, data.inputs, data.initial_state)
    return call, mistake(one).wrong(call)


@pytest.mark.parametrize(
    ("one", "variant", "other", "more"),
    [
        ("input-by-one-minus-decay", "linear_recurrence", "hgrn", {}),
        ("input-by-the-root-of-the-rest", "linear_recurrence", "rg_lru", {"i": 1.0}),
        ("hgrn-input-not-weighed", "hgrn", "linear_recurrence", {}),
        ("real-part-once-in-s5", "s5", "lru", {"gamma": 1.0}),
    ],
)
def test_what_is_wrong_in_one_variant_is_right_in_another(one, variant, other, more):
    call, got = made(one, variant)
    like = {"i": call.inputs["x"], "gamma": call.inputs.get("log_decay")}
    added = {name: np.full(like[name].shape, value) for name, value in more.items()}
    want = right(call_of(linattn.variant(other), "recurrent", {**call.inputs, **added}, call.state))
    assert got.keys() == want.keys()
    assert all(close(got[name], x) for name, x in want.items())


def test_the_reset_gate_after_the_matrix_is_that_of_pytorch():
    call, got = made("gru-reset-after-the-matrix", "gru")
    other = replace(call.variant, step=lambda h, **token: reset_after(h, **token, b=0))
    want = right(replace(call, variant=other))
    assert all(close(got[name], x) for name, x in want.items())


def test_pairs_of_halves_are_those_of_the_other_pairing():
    call, got = made("pairs-of-halves", "retnet")
    (S, phase), x = call.state, call.inputs
    angles = phase[..., None, :] + np.arange(x["q"].shape[2])[:, None] * x["angle"][:, None, :]
    q, k = (rotary.rotate(x[name], angles, "half") for name in ("q", "k"))
    (S,), o = retention.parallel(S, q, k, x["v"], x["log_decay"], x["scale"])
    assert close(got["output"], rms_norm(o, eps=x["eps"]))
    assert close(got["final_state/S"], S)


@pytest.mark.parametrize("one", ["scan-operands-exchanged", "scan-divided-by-decays"])
def test_an_exchanged_scan_has_the_right_parts(one):
    """A single token is added up right in whatever order."""
    data = linattn_golden.load(linattn_golden.case("linear_recurrence/one-token"))
    call = call_of(linattn.variant("linear_recurrence"), "parallel", data.inputs, None)
    want = right(call)
    assert all(close(x, want[name]) for name, x in mistake(one).wrong(call).items())
