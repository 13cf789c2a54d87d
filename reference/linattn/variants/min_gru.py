r"""minGRU: a GRU whose gate and candidate see the input alone, which makes it a scan.

.. math::

    h_t &= (1 - z_t) \odot h_{t-1} + z_t \odot x_t \\
    o_t &= h_t

x is the candidate state (the paper's h with a tilde), z the update gate, after its sigmoid. The GRU of Cho et al. and
the libraries keep the old state with the weight z; here z is the weight of the new one. The log-space form of the
authors is the same sum of logarithms: its candidates are positive. Their code starts with 0 or with a learnt state.
"""

from dataclasses import replace

from linattn.record import Input, Source, Variant
from linattn.variants import linear_recurrence


def step(h, x, z):
    """Feng et al., algorithm 1."""
    h = (1 - z) * h  # DECAY
    h = h + z * x  # WRITE
    return (h,), h  # READ


def parallel(h, x, z):
    """The associative scan: algorithm 2."""
    states = linear_recurrence.scanned(h, 1 - z, z * x)
    return (states[..., -1, :],), states


VARIANT = Variant(
    name="min_gru",
    title="minGRU",
    summary="a running weighted mean whose gate sees the input alone",
    step=step,
    parallel=parallel,
    inputs=(
        replace(linear_recurrence.INPUT, doc="candidate state"),
        Input("z", "T D", "update gate", heads="v", domain=(0, 1), role="gate", typical="strength"),
    ),
    state=(linear_recurrence.HIDDEN,),
    output="T D",
    linear=("x", "h"),
    constraints=(
        "C1  0 <= z <= 1.",
        "C2  z_t = 0 ignores token t, z_t = 1 stores x_t, exactly.",
        "C3  Every channel is a weighted mean of its candidates and of its initial value.",
        "C4  z = 1 - exp(log_decay) is HGRN.",
    ),
    sources=(
        Source("Were RNNs All We Needed?", "Feng et al.", 2024, "2410.01201", "appendices A.1, B, in a translation"),
    ),
    aliases={"minGRU-pytorch": "minGRU (positive candidates)"},
)
