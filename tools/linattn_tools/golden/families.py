"""The scenarios of single families: what the usual inputs do not show of them, and their exact cases."""

from linattn_tools.golden.scenario import LONG, PER_TOKEN, SHORT, Scenario

SMALL = {"q": "integers", "k": "one-hot", "v": "integers", "log_decay": "keep-or-forget", "S": "integers"}
SMALL |= {"beta": "strength-0-1-2"}


def exact(
    name: str, tokens: int, why: str, needs: tuple[str, ...], numbers: dict[str, float] | None = None, **draws: str
) -> Scenario:
    """Small integers, one-hot keys, decays 0 and 1: nothing rounds, in whatever order or precision."""
    dims = f"1 {tokens} 2 2 2 4 3"
    return Scenario(
        name, dims, why, {**SMALL, **draws}, numbers={"scale": 0.5, **(numbers or {})}, needs=needs, exact=True
    )


FAMILIES: tuple[Scenario, ...] = (
    Scenario(
        "gates-saturated",
        LONG,
        "softplus and sigmoid far from 0 on both sides: thresholds, and exponentials that overflow",
        {"a": "far", "b": "far", "A_log": "small-log"},
        needs=("A_log",),
    ),
    Scenario(
        "gates-far-below",
        LONG,
        "a softplus as small as 1e-7, times a rate as large as 3000: 1 + exp(x) has no digits left",
        {"a": "far-below", "A_log": "large-log"},
        gradients=True,
        needs=("A_log",),
    ),
    Scenario(
        "forgotten",
        SHORT,
        "nothing is written and nothing kept: the memory is exactly 0",
        {"v": "zero", "log_decay": "never", "log_momentum": "never", "beta": "zero", "theta": "zero"},
        needs=(*PER_TOKEN, "v"),
    ),
    Scenario(
        "forgotten-at-once",
        "1 1 2 2 2 5 3",
        "the same in one token, for outputs that are never 0: the memory alone shows it",
        {"v": "zero", "log_decay": "never"},
        needs=("metala",),
    ),
    Scenario(
        "mini-batches",
        LONG,
        "mini-batches of four tokens; the first goes on from the state, the last stays open",
        {"start": "every-fourth"},
        gradients=True,
        needs=("start",),
    ),
    Scenario(
        "resets-under-a-sum",
        "1 14 2 2 2 5 3",
        "log decay -inf, large values before it and small ones there: under a normaliser e^-20 of the past would show",
        {"log_decay": "reset", "v": "faint-at-resets"},
        needs=(*PER_TOKEN, "z"),
    ),
    Scenario(
        "resets-in-a-softmax",
        "1 14 2 2 2 5 3",
        "log decay -inf, large keys before it and faint ones there: in sharp scores e^-20 of the past would show",
        {"log_decay": "reset", "k": "faint-keys-at-resets", "q": "sharp"},
        needs=("wall",),
    ),
    Scenario("wide-angles", LONG, "angles that turn within a few tokens", {"angle": "strength"}, needs=("position",)),
    *(
        Scenario(
            "short-keys", SHORT, "keys of length 3/4: a normalisation inside would show", {"k": "short-unit"}, needs=n
        )
        for n in (("titans_linear",), ("gdn2",))
    ),
    Scenario(
        "short-removal-keys",
        SHORT,
        "removal keys of length 3/4: a normalisation inside would show",
        {"kappa": "short-unit"},
        needs=("kappa",),
    ),
    Scenario(
        "levels-taken",
        LONG,
        "all levels are taken: the first token carries everything into the last",
        {"taken": "one"},
        needs=("taken",),
    ),
    Scenario(
        "levels-begun",
        LONG,
        "all levels hold a half: the first token fills them, the second moves them",
        {"halves": "one"},
        needs=("halves",),
    ),
    Scenario("fit-begun", SHORT, "squares of keys from before: one key of all ones", {"H": "one"}, needs=("H", "lamb")),
    exact(
        "exact-levels", 9, "levels in whole numbers, all of them taken", ("taken",), level_scale="integers", taken="one"
    ),
    exact("exact-halves", 9, "levels in whole numbers, from halves", ("halves",), level_scale="integers", halves="one"),
    exact("exact-unit-values", 9, "as exact, with one-hot values", ("gated_oja",), v="one-hot"),
    exact("exact-feedback", 5, "an erase key of its own, in whole numbers", ("p", "scale"), p="one-hot"),
    exact("exact-low-rank", 5, "low-rank corrections in whole numbers", ("a", "b", "scale"), a="one-hot", b="one-hot"),
    exact("exact-removal", 5, "removal in whole numbers", ("kappa",), kappa="one-hot", a="one-hot"),
    exact("exact-gates", 5, "erase and write gates 0 and 1", ("b", "w"), b="one-hot", w="one-hot"),
    exact("exact-bonus", 5, "the bonus in whole numbers", ("u", "S", "scale"), u="integers"),
    exact(
        "exact-steps",
        5,
        "step sizes 0, 1 and 2 without decay",
        ("dt", "A", "S"),
        dt="strength-0-1-2",
        A="zero",
        D="integers",
    ),
    exact(
        "exact-momentum",
        4,
        "memory and momentum in whole numbers",
        ("R",),
        theta="strength-0-1-2",
        log_momentum="keep-or-forget",
        R="integers",
    ),
    exact(
        "exact-fit",
        5,
        "every token alone, with one key: the fit halves its value",
        ("lamb",),
        log_decay="never",
        beta="one",
        lamb="one",
        H="integers",
    ),
    exact(
        "exact-unconditioned",
        5,
        "preconditioners of exactly 1",
        ("log_atk_scale",),
        {"x": 1.0},
        log_decay_atk="keep-or-forget",
        beta_atk="one",
        log_atk_scale="zero",
        A="one",
    ),
    Scenario(
        "exact-strength",
        "1 3 2 2 2 4 3",
        "one-hot keys of weight 1: what is stored lies half-way",
        {"q": "integers", "k": "one-hot", "v": "integers", "beta": "one", "S": "integers"},
        needs=("S", "beta"),
        exact=True,
    ),
)
