"""Which cases there are: scenarios, each turned into one case of every variant that has the inputs it is about.

A scenario says why it exists. All its dimensions differ wherever a mixed-up axis could hide behind equal ones.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from linattn.record import Input, Variant
from linattn.variants import VARIANTS
from linattn_golden import Case
from linattn_golden.draws import Draw, key_of


@dataclass(frozen=True)
class Scenario:
    name: str
    why: str
    dims: str  # "B T Hq Hk Hv K V"
    draws: dict[str, str] = field(default_factory=dict)  # other draws than the usual ones
    numbers: dict[str, float] = field(default_factory=dict)
    initial: bool = True
    gradients: bool = False
    needs: tuple[str, ...] = ()  # inputs that the variant must have
    kind: str = "certified"


SCENARIOS = (
    Scenario("one-token", "one token from the empty state: a value to check by hand", "1 1 2 2 2 3 5", initial=False),
    Scenario("two-tokens", "a second token, a state and a scale of its own: the order of decay, write and read", "1 2 2 2 2 5 3",
             numbers={"scale": 0.5}),
    Scenario("odd-dims", "all dimensions differ: mixed-up axes, batches and heads", "2 7 3 3 3 5 11", gradients=True),
    Scenario("square", "K = V: a transposed state has the right shape and the wrong values", "2 7 2 2 2 4 4"),
    Scenario("long", "longer than a chunk of 16 or 32, with a short last chunk", "1 33 2 2 2 8 6", gradients=True),
    Scenario("long-fresh", "the same from the empty state, with scale 1", "1 33 2 2 2 6 8", numbers={"scale": 1.0}, initial=False),
    Scenario("grouped-query", "more query than key/value heads: heads repeat, they do not tile", "2 7 4 2 2 5 3"),
    Scenario("grouped-value", "more value than query and key heads", "2 7 2 2 4 5 3"),
    Scenario("large-scores", "scores up to 50: an exponential without its maximum overflows in half precision", "1 33 2 2 2 8 6",
             {"q": "bell"}, {"scale": 8.0}, needs=("keys",)),
    Scenario("eps", "an eps that is seen in every precision", "1 7 2 2 2 5 3", numbers={"eps": 0.25}, needs=("eps",)),
    Scenario("gates-zero", "log decay exactly 0: nothing is forgotten", "1 7 2 2 2 5 3", {"log_decay": "zero"}, needs=("log_decay",)),
    Scenario("gates-float32", "gates down to -5 whose cumulative sum rounds", "1 33 2 2 2 8 6", {"log_decay": "medium-f32"},
             needs=("log_decay",)),
    Scenario("gates-slow", "slow gates: rounding errors live long", "1 33 2 2 2 8 6", {"log_decay": "slow"}, needs=("log_decay",)),
    Scenario("gates-strong", "gates down to -20: exp(-cumsum) overflows", "1 33 2 2 2 8 6", {"log_decay": "strong"},
             gradients=True, needs=("log_decay",)),
    Scenario("gates-spike", "one strong gate among slow ones", "1 33 2 2 2 8 6", {"log_decay": "spike-f32"},
             needs=("log_decay per token",)),
    Scenario("gates-reset", "log decay -inf: everything before is forgotten, exactly", "1 33 2 2 2 8 6", {"log_decay": "reset"},
             gradients=True, needs=("log_decay per token",)),
    Scenario("gates-never", "log decay -inf throughout: every token sees itself alone", "1 7 2 2 2 5 3", {"log_decay": "never"},
             needs=("log_decay",)),
    Scenario("beta-0-1-2", "write nothing, replace, reflect", "1 7 2 2 2 5 3", {"beta": "strength-0-1-2"}, needs=("beta",)),
    Scenario("beta-to-2", "writing strengths beyond 1", "1 33 2 2 2 8 6", {"beta": "strength-to-2"}, needs=("beta",)),
    Scenario("recipe-64", "the size of a kernel: K = V = 64, whole chunks of 64", "1 128 2 2 2 64 64", kind="recipe"),
    Scenario("recipe-128", "the size of a kernel: K = V = 128, whole chunks of 64", "1 128 2 2 2 128 128", kind="recipe"),
)  # fmt: skip


def all_cases() -> Iterator[Case]:
    for variant in VARIANTS:
        yield from (case_of(variant, scenario) for scenario in SCENARIOS if applies(variant, scenario))


def applies(variant: Variant, scenario: Scenario) -> bool:
    has = {item.name for item in variant.inputs} | {item.name for item in variant.state}
    has |= {f"{item.name} per token" for item in variant.inputs if item.time is not None}
    return set(scenario.needs) <= has


def case_of(variant: Variant, scenario: Scenario) -> Case:
    case_id = f"{variant.name}/{scenario.name}"
    dims = dict(zip("B T Hq Hk Hv K V".split(), map(int, scenario.dims.split()), strict=True))
    sizes = {**dims, "P": 3}

    def draws(group: str, kinds: dict[str, tuple[str, tuple[int, ...]]]) -> dict[str, Draw]:
        return {name: Draw(kind, shape, key_of(f"{case_id}/{group}/{name}")) for name, (kind, shape) in kinds.items()}

    arrays = [item for item in variant.inputs if item.axes]
    inputs = {i.name: (scenario.draws.get(i.name, usual(variant, i)), shape(i, sizes)) for i in arrays}
    state = {
        s.name: (usual_state(s.name), tuple(sizes[a] for a in ("B", "Hv", *s.axes.split()))) for s in variant.state
    }
    cotangents = {"output": ("bell", (dims["B"], dims["Hq"], dims["T"], dims["V"]))} | {
        f"final_state/{name}": (
            "bell",
            size if "P" not in axes else (*size[:2], size[2] * scenario.initial + dims["T"], size[3]),
        )
        for (name, (_, size)), axes in zip(state.items(), (s.axes for s in variant.state), strict=True)
    }
    return Case(
        id=case_id,
        variant=variant.name,
        kind=scenario.kind,
        why=scenario.why,
        dims=dims,
        numbers={name: value for name, value in scenario.numbers.items() if variant.has(name)},
        inputs=draws("inputs", inputs),
        initial_state=draws("initial_state", state) if scenario.initial else None,
        cotangents=draws("cotangents", cotangents) if scenario.gradients else {},
    )


def shape(item: Input, sizes: dict[str, int]) -> tuple[int, ...]:
    """(B, heads, T, D) for a sequence, (heads, D) for a parameter."""
    batch = ("B",) if item.time is not None else ()
    return tuple(sizes.get(axis, 1) for axis in (*batch, f"H{item.heads}", *item.axes.split()))


def usual(variant: Variant, item: Input) -> str:
    """Unit keys where beta erases, positive features where a sum of them divides."""
    if item.name in ("q", "k") and variant.has("eps"):
        return "positive"
    if item.name == "k" and variant.has("beta"):
        return "unit"
    return {"log_decay": "mild", "beta": "strength"}.get(item.name, "bell")


def usual_state(name: str) -> str:
    return "positive" if name == "z" else "bell"
