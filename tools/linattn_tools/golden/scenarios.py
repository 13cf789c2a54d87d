"""Which cases there are: scenarios, each a case of every variant that has the inputs it is about.

A scenario says why it exists. All its dimensions differ wherever a mixed-up axis could hide behind equal ones.
"""

from collections.abc import Iterable, Iterator

from linattn.record import Variant
from linattn.variants import VARIANTS
from linattn_golden import Case
from linattn_spec.drawn import tensors
from linattn_tools.golden.cases import case_of
from linattn_tools.golden.families import FAMILIES
from linattn_tools.golden.scans import SCANS
from linattn_tools.golden.scenario import LONG, PER_TOKEN, SHORT, Scenario, gated
from linattn_tools.golden.weights import WEIGHTS

BY_HAND = {"q": "count", "k": "one", "v": "count", "log_decay": "minus-one", "beta": "half", "S": "one", "z": "one"}
BY_HAND |= {"keys": "one", "values": "count"}

SCENARIOS: tuple[Scenario, ...] = (
    Scenario("by-hand", "1 2 1 1 1 1 1", "small numbers of one channel: two tokens to compute on paper", BY_HAND),
    Scenario("one-token", "1 1 2 2 2 3 5", "one token from the empty state: a value to check by hand", initial=False),
    Scenario(
        "two-tokens",
        "1 2 2 2 2 5 3",
        "a second token, a state and a scale of its own: the order of decay, write and read",
        numbers={"scale": 0.5},
    ),
    Scenario("odd-dims", "2 7 3 3 3 5 11", "all dimensions differ: mixed-up axes, batches and heads", gradients=True),
    Scenario(
        "square", "2 7 2 2 2 4 4", "K = V: a transposed state has the right shape and the wrong values", gradients=True
    ),
    Scenario("long", "1 33 2 2 2 8 6", "longer than a chunk of 16 or 32, with a short last chunk", gradients=True),
    Scenario(
        "long-fresh",
        "1 33 2 2 2 6 8",
        "the same from the empty state, with scale 1",
        numbers={"scale": 1.0},
        initial=False,
    ),
    Scenario(
        "plain",
        "2 21 3 3 3 5 4",
        "from the empty state with nothing set: what a function can be given that takes neither a state nor a scale",
        initial=False,
        gradients=True,
    ),
    Scenario(
        "grouped-query",
        "2 7 6 2 2 5 3",
        "more query than key/value heads: heads repeat, they do not tile",
        gradients=True,
        needs=("q",),
    ),
    Scenario("grouped-value", "2 7 2 2 6 5 3", "more value than query and key heads", grouped=True),
    Scenario(
        "large-scores",
        LONG,
        "scores up to 50: an exponential without its maximum overflows in half precision",
        numbers={"scale": 8.0, "gamma": 16.0},
        needs=("keys",),
    ),
    Scenario(
        "short-keys",
        SHORT,
        "keys of length 3/4: a normalisation inside would show",
        {"k": "short-unit"},
        needs=("A_log",),
    ),
    Scenario(
        "one-more-token", "2 1 2 2 2 5 3", "one token from a window: all but one input is older", needs=("window",)
    ),
    Scenario(
        "short-sequence",
        "1 2 3 3 3 5 3",
        "fewer tokens than the window holds: it keeps older inputs",
        needs=("window",),
    ),
    Scenario("no-bias", SHORT, "no bias, for those who have none", {"bias": "zero"}, needs=("window",)),
    Scenario("eps", SHORT, "an eps that is seen in every precision", numbers={"eps": 4.0}, needs=("eps",)),
    gated("gates-zero", SHORT, "log decay exactly 0: nothing is forgotten", "zero"),
    gated("gates-never", SHORT, "log decay -inf throughout: every token sees itself alone", "never"),
    gated("gates-slow", LONG, "slow gates: rounding errors live long", "slow"),
    gated("gates-float32", LONG, "gates down to -5 whose cumulative sum rounds", "medium-f32"),
    gated("gates-strong", LONG, "gates down to -20: exp(-cumsum) overflows", "strong", gradients=True),
    gated("gates-spike", LONG, "one strong gate among slow ones", "spike-f32", needs=PER_TOKEN),
    gated(
        "gates-reset", LONG, "log decay -inf: everything before is forgotten", "reset", needs=PER_TOKEN, gradients=True
    ),
    Scenario(
        "short-keys",
        SHORT,
        "keys of length 3/4: a normalisation inside would show",
        {"k": "short-unit"},
        needs=("beta",),
    ),
    Scenario("beta-0-1-2", SHORT, "write nothing, replace, reflect", {"beta": "strength-0-1-2"}, needs=("beta",)),
    Scenario("beta-to-2", LONG, "writing strengths beyond 1", {"beta": "strength-to-2"}, needs=("beta",)),
    Scenario(
        "state-float32",
        SHORT,
        "a state that bfloat16 does not hold: rounding it on its way in is seen",
        {"S": "bell-f32"},
        needs=("S",),
    ),
    Scenario(
        "exact",
        "1 9 2 2 2 4 3",
        "small integers, one-hot keys, decays 0 and 1: nothing rounds, in whatever order or precision",
        {
            "q": "integers",
            "k": "one-hot",
            "v": "integers",
            "log_decay": "keep-or-forget",
            "beta": "strength-0-1-2",
            "S": "integers",
        },
        numbers={"scale": 0.5},
        needs=("S", "scale"),
        unless=("gated_oja",),  # values that are no unit vectors: its memory outgrows 8 bits
        exact=True,
    ),
    Scenario("recipe-64", "1 128 2 2 2 64 64", "the size of a kernel: K = V = 64, whole chunks of 64", kind="recipe"),
    Scenario("recipe-128", "1 128 2 2 2 128 128", "the size of another: K = V = 128, chunks of 64", kind="recipe"),
    Scenario(
        "recipe-plain",
        "2 128 2 2 2 64 64",
        "the size of a kernel, for one that takes neither a state nor a scale",
        kind="recipe",
        initial=False,
    ),
)
SCENARIOS += FAMILIES + SCANS + WEIGHTS


def all_cases(variants: Iterable[Variant] = VARIANTS) -> Iterator[Case]:
    for variant in variants:
        yield from (case_of(variant, scenario) for scenario in SCENARIOS if applies(variant, scenario))


def applies(variant: Variant, scenario: Scenario) -> bool:
    has = {variant.name} | {item.name for item in tensors(variant)}
    has |= {f"{item.name} per token" for item in variant.inputs if item.time is not None}
    arrays = {item.name for item in variant.inputs if item.axes} | {item.name for item in variant.state}
    if scenario.exact and not arrays <= set(scenario.draws):
        return False  # what is drawn as usual rounds
    counts = {item.heads for item in variant.inputs} - {"none"}
    if variant.name in scenario.unless or (scenario.grouped and len(counts) < 2):
        return False
    wide = any(item.axes.split().count("K") > 1 for item in variant.state)
    return set(scenario.needs) <= has and not (wide and scenario.name == "recipe-128")  # more than a proof can bear
