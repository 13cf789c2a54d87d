"""A comparison: results against what they should be, in units."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from linattn.record import Variant
from linattn_spec import relative, verdict, where
from linattn_spec.exchange import Results, WrongReturn


@dataclass(frozen=True)
class Comparison:
    """Results against what they should be, in units; ``slack`` multiplies the units where both sides may stray."""

    got: Results
    want: Mapping[str, np.ndarray]
    units: Mapping[str, np.ndarray]
    slack: float = 1.0
    what: str = ""

    def of(self, change: Callable[[Mapping[str, np.ndarray]], Results]) -> "Comparison":
        """The comparison of what both sides stand for. Raises ``WrongReturn`` where shapes differ."""
        for name in self.got:
            self.refuse_another_shape(name)
        return replace(self, got=change(self.got), want=change(self.want))

    def turned(self, variant: Variant) -> "Comparison":
        """With angles less the whole turns by which they are apart from what they should be."""
        return replace(self, got=relative.turned(variant, self.got, self.want))

    @property
    def errors(self) -> dict[str, np.ndarray]:
        return {name: self.error(name) for name in self.got}

    def refuse_another_shape(self, name: str) -> None:
        if self.got[name].shape != self.want[name].shape:
            raise WrongReturn(f"{name} must have shape {self.want[name].shape} (B, H, ...); got {self.got[name].shape}")

    def error(self, name: str) -> np.ndarray:
        self.refuse_another_shape(name)
        with np.errstate(all="ignore"):
            errors = (self.got[name] - self.want[name]) / (self.slack * self.units[name])
        same = self.got[name] == self.want[name]  # -inf, the logarithm of zero, for one
        return np.where(np.isinf(self.units[name]) | same, 0, errors)  # undetermined tokens are not judged

    @property
    def undetermined(self) -> int:
        """How many values nobody can determine in this precision: a denominator near zero."""
        return sum(int(np.isinf(self.units[name]).sum()) for name in self.got)

    @property
    def measures(self) -> dict[str, verdict.Measure]:
        return {name: verdict.measure(errors) for name, errors in self.errors.items()}

    @property
    def load(self) -> float:
        """The share of the closest limit that the errors use up."""
        return max(measure.load for measure in self.measures.values())

    @property
    def reason(self) -> str:
        """What is off by how much, and where it begins."""
        begins = where.describe(self.got, self.want, self.errors)
        return f"{self.what}{where.numbers(self.measures)}; {begins}"
