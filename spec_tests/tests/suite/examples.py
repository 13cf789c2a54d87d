"""One or two variants of every family: what takes long is tried on these."""

from drawing import FOUNDATION

from linattn.variants import variant

EXAMPLES = FOUNDATION + tuple(
    variant(name)
    for name in (
        "fox",
        "power_attention",
        "mamba2",
        "mamba3",
        "dplr",
        "gated_delta_product",
        "linear_recurrence",
        "s5",
        "lstm",
        "mlstm",
        "slstm",
        "gsa",
        "mesanet",
        "titans_linear",
        "log_linear_gated_delta_rule",
    )
)
NAMES = frozenset(one.name for one in EXAMPLES)
