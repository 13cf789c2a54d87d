"""The units are calibrated: however a right implementation of the promised precision computes, it stays far from the
limits. ``linattn bench verdict`` measures the same on thousands of runs.
"""

import pytest

import linattn
from linattn import VARIANTS
from linattn_spec import PROFILES, drawn, verdict
from linattn_spec.comparison import Comparison
from linattn_tools.verdict_bench.settings import Setting, setting

MARGIN = 2 / 3  # of every limit: room for machines that sum in yet another way
PLACES = [(variant.name, form) for variant in VARIANTS for form in variant.forms]
SETTINGS = [n + n % 3 * len(VARIANTS) for n in range(len(VARIANTS))]  # of all variants; the causal forms take turns
SETTINGS += [n + 3 * len(VARIANTS) for n, variant in enumerate(VARIANTS) if variant.bidirectional]
LONGEST = 150  # longer ones take too long here
TYPICAL = "Hq=2,Hk=2,Hv=2,K=16,V=16,initial_state=drawn"
SMALL = "Hq=2,Hk=2,Hv=2,K=4,V=4,initial_state=drawn"
SIGNED = "Hq=16,Hk=16,Hv=16,K=2,V=4,q=bell,k=bell,seed=3"  # denominators of both signs
HARD = {  # variant, form, what is drawn
    "long positive sums": ("linear_attention", "parallel", f"T=512,{TYPICAL},q=positive,k=positive,v=positive"),
    "slow constant decays": ("retention", "parallel", f"T=512,{TYPICAL},log_decay=slow"),
    "slow decays, one by one": ("simple_gla", "recurrent", f"T=256,{TYPICAL},log_decay=slow"),
    "slow decays, at once": ("simple_gla", "parallel", f"T=256,{TYPICAL},log_decay=slow"),
    "strong decays, float32": ("gla", "chunkwise", f"T=128,{TYPICAL},log_decay=medium-f32"),
    "a spike": ("kda", "chunkwise", f"T=64,{TYPICAL},log_decay=spike-f32"),
    "large scores": ("softmax_attention", "chunkwise", f"T=64,{TYPICAL},scale=2"),
    "a quotient of long sums": ("normalised_linear_attention", "parallel", f"T=256,{TYPICAL},q=positive,k=positive"),
    "near-zero denominators": ("normalised_linear_attention", "chunkwise", f"T=128,{SIGNED}"),
    "many writes to one key": ("delta_rule", "chunkwise", "T=128,Hq=4,Hk=4,Hv=4,K=1,V=4,beta=strength-to-2"),
    "many writes to few keys": ("delta_rule", "parallel", "T=256,Hq=2,Hk=2,Hv=2,K=4,V=4,beta=strength-to-2"),
    "many writes, slow decays": ("kda", "chunkwise", "T=64,Hq=4,Hk=4,Hv=4,K=2,V=4,log_decay=slow"),
    "a spike in every entry": ("hadamard_gated_linear_attention", "chunkwise", f"T=64,{SMALL},log_decay=spike-f32"),
    "weights of both signs": ("power_attention", "chunkwise", f"T=100,{SMALL},log_decay=slow"),
    "a difference of weights": ("cosformer", "chunkwise", f"T=128,{SMALL},q=bell,k=bell"),
    "decayed keys": ("wall", "chunkwise", f"T=64,{SMALL},log_decay=slow,q=positive,k=positive,scale=2"),
    "steep slopes": ("parallax", "chunkwise", f"T=64,{SMALL},q=positive,k=positive,r=positive,scale=2"),
    "steep slopes, not causal": ("parallax", "bidirectional", f"T=64,{SMALL},q=positive,k=positive,r=positive,scale=2"),
    "sums of both signs, not causal": (  # too much for the noise of one route alone
        "linear_attention",
        "bidirectional",
        "T=128,Hq=2,Hk=2,Hv=2,K=16,V=1,q=bell,k=bell,v=bell,seed=4699",
    ),
    "near-zero denominators, not causal": ("normalised_linear_attention", "bidirectional", f"T=128,{SIGNED}"),
    "a difference of weights, not causal": ("cosformer", "bidirectional", f"T=128,{SMALL},q=bell,k=bell"),
    "a stick of large scores": ("stick_breaking", "chunkwise", f"T=64,{TYPICAL},scale=8"),
    "gates from a step size": ("mamba2", "chunkwise", f"T=128,{TYPICAL},A=slow"),
    "slow turning decays": ("s5", "chunkwise", "T=150,Hq=2,Hk=2,Hv=2,D=8,N=8,log_decay=slow"),
    "weights out of a sum": ("lightnet", "parallel", f"T=256,{SMALL},k=positive"),
    "strong gates before a maximum": ("mlstm", "chunkwise", f"T=100,{SMALL},log_decay=medium-f32"),
    "slow slots": ("gsa", "chunkwise", "T=100,Hq=2,Hk=2,Hv=2,K=8,V=4,M=4,log_decay=slow,q=positive,k=positive"),
    "an inverse of sums": ("mesanet", "chunkwise", f"T=64,{SMALL},log_decay=slow,beta=strength-to-2"),
    "momentum that hardly decays": ("titans_linear", "chunkwise", f"T=64,{SMALL},log_decay=slow,log_momentum=slow"),
}


def hard(name: str) -> Setting:
    variant, form, fields = HARD[name]
    record = linattn.variant(variant)
    return Setting(0, record, form, drawn.case(record, f"drawn(B=1,{fields})"))


def loads(one: Setting, profile: str, units: str = "") -> dict[str, float]:
    """Of every kernel, in the units of its form or of another."""
    call, promise = one.call, PROFILES[profile]
    truth = verdict.truth(call.variant, promise, units or call.form, call.inputs, call.state)
    results = {kernel.name: kernel(call.variant, promise, call.inputs, call.state) for kernel in one.kernels}
    return {name: Comparison(x, truth.values, truth.units).load for name, x in results.items()}


@pytest.mark.parametrize("profile", ["fp32", "tf32", "bf16", "bf16-io", "fp16"])
@pytest.mark.parametrize("name", HARD)
def test_right_kernels_stay_far_from_the_limits(name, profile):
    assert {kernel: x for kernel, x in loads(hard(name), profile).items() if x > MARGIN} == {}


@pytest.mark.parametrize("place", PLACES, ids=":".join)
def test_every_kernel_computes_its_variant(place):
    """In float64, where what is no rounding is beyond all limits."""
    name, form = place
    record = linattn.variant(name)
    sizes = {axis: 2 if axis == "R" else 5 for axis in drawn.axes_of(record)[len(drawn.COMMON) :]}
    fields = {"B": 1, "T": 20, "Hq": 2, "Hk": 2, "Hv": 2, **sizes, "initial_state": "drawn"}
    one = Setting(0, record, form, drawn.case(record, drawn.scenario(fields)))
    assert {kernel: x for kernel, x in loads(one, "fp64").items() if x > 1} == {}


@pytest.mark.parametrize("number", SETTINGS)
def test_whatever_is_drawn(number):
    one, profile = setting(number), list(PROFILES)[number % len(PROFILES)]
    if one.tokens <= LONGEST:
        assert {kernel: x for kernel, x in loads(one, profile).items() if x > MARGIN} == {}


@pytest.mark.parametrize("name", ["near-zero denominators", "many writes to one key", "many writes to few keys"])
def test_the_noise_of_the_recurrence_alone_would_reject_right_chunks(name):
    """Why a closed form is judged by the noise of both: see ``linattn_spec.ways``."""
    assert max(loads(hard(name), "fp32", units="recurrent").values()) > 1


@pytest.mark.parametrize("name", [name for name, (_, form, _) in HARD.items() if form == "chunkwise"])
def test_a_closed_form_is_granted_more_than_the_recurrence_never_less(name):
    """And the recurrence nothing of it."""
    call = hard(name).call
    recurrent, closed = (
        verdict.truth(call.variant, PROFILES["fp32"], form, call.inputs, call.state).units
        for form in ("recurrent", "chunkwise")
    )
    assert all((closed[result] >= recurrent[result]).all() for result in recurrent)
    assert any((closed[result] > recurrent[result]).any() for result in recurrent)


@pytest.mark.parametrize("name", HARD)
def test_kernels_are_not_all_the_same(name):
    """They sum in other orders, so that their results differ. (A scale of 1/4 makes no other order.)"""
    one = hard(name)
    results = [
        kernel(one.variant, PROFILES["fp32"], one.call.inputs, one.call.state)["output"] for kernel in one.kernels
    ]
    assert len({x.tobytes() for x in results}) >= 2
