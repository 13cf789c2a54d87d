"""What a scenario is: a case of every variant that has the inputs it is about."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Scenario:
    name: str
    dims: str  # "B T Hq Hk Hv K V"
    why: str
    draws: dict[str, str] = field(default_factory=dict)  # other draws than the usual ones
    numbers: dict[str, float] = field(default_factory=dict)
    initial: bool = True
    gradients: bool = False
    needs: tuple[str, ...] = ()  # inputs that the variant must have
    unless: tuple[str, ...] = ()  # variants of which it is not true
    grouped: bool = False  # whether it must have inputs with head counts of their own
    kind: str = "certified"
    exact: bool = False


def gated(
    name: str, dims: str, why: str, gates: str, needs: tuple[str, ...] = ("log_decay",), **more: bool
) -> Scenario:
    """A scenario about the log decays."""
    return Scenario(name, dims, why, {"log_decay": gates}, needs=needs, **more)  # type: ignore[arg-type]


SHORT, LONG = "1 7 2 2 2 5 3", "1 33 2 2 2 8 6"
PER_TOKEN = ("log_decay per token",)
