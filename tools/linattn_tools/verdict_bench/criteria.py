"""The rules by which implementations are judged, here and elsewhere. Every result must pass: the output, and the state.

Rules from elsewhere are stated as formulas, with d = got - want in float64. They judge all values, those at a pole
too. Their tolerances go by the dtype of the output, for the state as well: most would hold a float32 state to those of
float32, and accept less.

torch: |d| <= atol + rtol |want|, the defaults of ``torch.testing.assert_close`` (pytorch/pytorch,
    torch/testing/_comparison.py, version 2.13).
loose: the same with atol = rtol as large as kernels are tested with.
fla: rms(d) / (rms(want) + 1e-8) < 0.005, of float32 0.002, or max|d| <= 1e-6 (fla-org/flash-linear-attention,
    fla/utils.py ``assert_close`` at 03f7925; the ratios of tests/ops).
fla CI: with FLA_CI_ENV=1 the same only warns where the ratio is < 0.01 or max|d| <= 0.3. NaN is refused by both.
FlashAttention: max|d| <= 2 max|plain - want| + 2 max|((want + 0.3) - 0.3) - want|, all in the dtype of the result;
    plain is the textbook recurrence with every intermediate result in the dtype of the output
    (Dao-AILab/flash-attention, hopper/test_flash_attn.py at 01afd16).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linattn_spec import diagnosis
from linattn_spec.comparison import Comparison
from linattn_spec.diagnosis import Signatures
from linattn_spec.frameworks import typed
from linattn_spec.profiles import Profile

TORCH = {"float64": (1e-7, 1e-7), "float32": (1.3e-6, 1e-5), "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5)}
LOOSE = {"float64": 1e-8, "float32": 1e-4, "tf32": 5e-3, "float16": 5e-3, "bfloat16": 2e-2}
FLA = {"float64": 0.002, "float32": 0.002, "float16": 0.005, "bfloat16": 0.005}


@dataclass(frozen=True)
class Evidence:
    """What is judged, and all that a rule may look at."""

    profile: Profile
    comparison: Comparison
    plain: dict[str, np.ndarray]
    known: Signatures

    @property
    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """got and want, of every result."""
        return [(x, self.comparison.want[name]) for name, x in self.comparison.got.items()]

    @cached_property
    def load(self) -> float:
        return self.comparison.load

    @cached_property
    def errors(self) -> np.ndarray:
        return diagnosis.errors_of(self.comparison)


def within(evidence: Evidence, rtol: float, atol: float) -> bool:
    return all((np.abs(got - want) <= atol + rtol * np.abs(want)).all() for got, want in evidence.pairs)


def torch_defaults(evidence: Evidence) -> bool:
    return within(evidence, *TORCH[evidence.profile.array])


def loose(evidence: Evidence) -> bool:
    tolerance = LOOSE["tf32" if evidence.profile.name == "tf32" else evidence.profile.array]
    return within(evidence, tolerance, tolerance)


def rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)))


def fla(evidence: Evidence, in_ci: bool = False) -> bool:
    def close(got: np.ndarray, want: np.ndarray) -> bool:
        largest, ratio = np.abs(got - want).max(), rms(got - want) / (rms(want) + 1e-8)
        if largest <= 1e-6:
            return True
        if np.isnan(got).any():
            return False
        warned = in_ci and (ratio < 0.01 or largest <= 0.3)
        return bool(warned or ratio < FLA[evidence.profile.array])

    return all(close(got, want) for got, want in evidence.pairs)


def fla_in_ci(evidence: Evidence) -> bool:
    return fla(evidence, in_ci=True)


def flash_attention(evidence: Evidence) -> bool:
    def close(name: str, got: np.ndarray) -> bool:
        dtype = evidence.profile.array if name == "output" else evidence.profile.state
        want = typed(evidence.comparison.want[name], dtype).values
        back = typed(typed(want + 0.3, dtype).values - 0.3, dtype).values
        allowed = 2 * np.abs(evidence.plain[name] - want).max() + 2 * np.abs(back - want).max()
        return bool(np.abs(got - want).max() <= allowed)

    return all(close(name, got) for name, got in evidence.comparison.got.items())


def noise_units(evidence: Evidence) -> bool:
    return evidence.load <= 1


def noise_units_and_filter(evidence: Evidence, without: str = "") -> bool:
    """The verdict of this suite; ``without`` leaves a mistake out of the filter."""
    if not noise_units(evidence):
        return False
    known = evidence.known.without(without) if without else evidence.known
    return diagnosis.explain(evidence.errors, known, np.inf) is None


CRITERIA: dict[str, Callable[[Evidence], bool]] = {
    "torch assert_close": torch_defaults,
    "allclose, loose": loose,
    "fla rms ratio": fla,
    "fla rms ratio in CI": fla_in_ci,
    "FlashAttention 2x": flash_attention,
    "noise units": noise_units,
    (OURS := "noise units + filter"): noise_units_and_filter,
}
LEAVE_ONE_OUT = "its mistake left out"
