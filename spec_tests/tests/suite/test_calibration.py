"""The units are calibrated: however a right implementation of the promised precision computes, it stays far from the
limits.
"""

from typing import Any

import numpy as np
import pytest
from emulated import Kernel, base_2, differences, powers

import linattn
from linattn import Variant
from linattn_golden.draws import Draw, key_of
from linattn_spec import PROFILES, Profile, verdict

MARGIN = 2 / 3  # of every limit: room for machines that sum in yet another way
SIZES = {"K": 16, "V": 16}
SEEDS, HEADS = 2, 2  # seeds are batch entries, each judged for itself
WHOLE = 512
CLOSED = (
    *(Kernel(f"chunks of {size}", size) for size in (1, 3, 16, 64)),
    Kernel("chunks of 16, sums forwards", 16, "forwards"),
    Kernel("chunks of 64, sums backwards", 64, "backwards"),
)
RECURRENT = (Kernel("recurrent"), Kernel("recurrent, sums backwards", order="backwards"))
PARALLEL = (Kernel("parallel", WHOLE), Kernel("parallel, sums forwards", WHOLE, "forwards"))
DIFFERENCES = (
    Kernel("gates as differences of sums", 64, decays=differences),
    Kernel("gates as differences of sums in base 2", 16, decays=base_2),
)
POWERS = (Kernel("gates as powers", 64, decays=powers), Kernel("gates as powers, parallel", WHOLE, decays=powers))

POSITIVE = {"q": "positive", "k": "positive", "v": "positive", "S": "positive", "z": "positive"}
DELTA = {"k": "unit", "beta": "strength"}
CASES = {  # variant, tokens, draws, kernels beside the recurrent ones and those with chunks
    "long positive sums": ("linear_attention", 512, POSITIVE, PARALLEL),
    "slow constant decays": ("retention", 512, {}, PARALLEL + POWERS),
    "slow decays": ("simple_gla", 256, {"log_decay": "slow"}, PARALLEL + DIFFERENCES),
    "strong decays, float32": ("gla", 128, {"log_decay": "medium-f32"}, PARALLEL + DIFFERENCES),
    "erasing": ("gated_delta_rule", 128, DELTA | {"log_decay": "slow"}, PARALLEL + DIFFERENCES),
    "reflecting": ("delta_rule", 128, DELTA | {"beta": "strength-to-2"}, ()),
    "a spike": ("kda", 64, DELTA | {"log_decay": "spike-f32"}, PARALLEL + DIFFERENCES),
    "large scores": ("softmax_attention", 64, {}, PARALLEL),
    "a quotient of long sums": ("normalised_linear_attention", 256, POSITIVE, PARALLEL),
}


def drawn(variant: Variant, tokens: int, draws: dict[str, str]) -> tuple[dict[str, Any], tuple]:
    """Inputs and a state with (SEEDS, HEADS) as leading axes."""
    sizes = SIZES | {"T": tokens, "P": 3}

    def draw(item: Any, usual: str) -> np.ndarray:
        shape = (SEEDS, HEADS, *(sizes.get(axis, 1) for axis in item.axes.split()))
        return Draw(draws.get(item.name, usual), shape, key_of(f"{variant.name} {tokens} {item.name}")).array()

    inputs: dict[str, Any] = {item.name: draw(item, "bell") for item in variant.inputs if item.time is not None}
    if variant.name == "retention":
        inputs["log_decay"] = np.float32(np.log1p(-(2.0 ** -np.array([[5], [12]])))).astype(float)
    if variant.has("scale"):
        inputs["scale"] = 2.0 if variant.name == "softmax_attention" else 0.25
    return inputs | ({"eps": 2.0**-20} if variant.has("eps") else {}), tuple(draw(s, "bell") for s in variant.state)


def load(kernel: Kernel, variant: Variant, profile: Profile, inputs: Any, state: tuple, truth: verdict.Truth) -> float:
    """Of the worst array and batch entry."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        results = kernel(variant, profile, inputs, state)
    errors = [(x - truth.values[name]) / truth.units[name] for name, x in results.items()]
    return max(verdict.measure(entry[None]).load for x in errors for entry in x)


@pytest.mark.parametrize(
    "profile", [PROFILES[name] for name in ("fp32", "tf32", "bf16", "bf16-io", "fp16")], ids=lambda p: p.name
)
@pytest.mark.parametrize("case", CASES)
def test_right_implementations_stay_far_from_the_limits(case, profile):
    name, tokens, draws, kernels = CASES[case]
    variant = linattn.variant(name)
    inputs, state = drawn(variant, tokens, draws)
    truth = verdict.truth(variant, profile, "recurrent", inputs, state)
    loads = {k.name: load(k, variant, profile, inputs, state, truth) for k in RECURRENT + CLOSED + kernels}
    assert {name: x for name, x in loads.items() if x > MARGIN} == {}
