"""The scenarios of memories whose weights are exponentials: what their stabilisers are for."""

from linattn_tools.golden.scenario import LONG, SHORT, Scenario

LOG_WEIGHTS = {
    "mlstm": "log_input",
    "rwkv4": "k",
    "exp_linear_attention": "k",
    "lightnet": "k",
    "slstm": "i",
    "abc": "s",
}


def weights(name: str, why: str, kind: str, initial: bool = True) -> tuple[Scenario, ...]:
    """A scenario about the log weights of each variant that has some."""
    return tuple(
        Scenario(name, LONG, why, {log_weight: kind}, initial=initial, needs=(variant,))
        for variant, log_weight in LOG_WEIGHTS.items()
    )


WEIGHTS = (
    *weights("weights-large", "weights around exp(96): an exponential without its maximum overflows", "above"),
    *weights("weights-small", "weights around exp(-60): next to a stabiliser of 0 nothing is left", "below", False),
    *weights("weights-rising", "later tokens outweigh all before: what is kept is rescaled again and again", "rising"),
    *weights("weights-falling", "the first token outweighs all the rest: the stabiliser stays", "falling", False),
    Scenario(
        "writes-paused",
        LONG,
        "log inputs of -inf write nothing, even where all is forgotten: minus infinity less minus infinity",
        {"log_input": "paused", "log_decay": "reset"},
        initial=False,
        needs=("log_input",),
    ),
    *(
        Scenario(
            "state-large",
            SHORT,
            "a large state that a log decay of -inf forgets: a clamped one keeps a share that is seen",
            {"log_decay": "never", "D": "large-positive-f32", **dict.fromkeys(large, "large-f32")},
            needs=(variant,),
        )
        for variant, large in {
            "mlstm": ("S", "z"),
            "mlstm_sigmoid": ("S",),
            "mlstm_sigmoid_normalised": ("S", "z"),
            "rwkv4": ("N",),
            "gsa": ("keys", "values"),
        }.items()
    ),
)
