"""The gated delta rule with faults that only some cases show, for live checks to find."""

import numpy as np

from linattn_spec import Backend, load
from linattn_spec.backends.numpy_folds import with_signature

NUMPY = load("numpy")
VARIANT = "gated_delta_rule"
ALL = ("q", "k", "v", "log_decay", "beta", "scale", "initial_state")


def adapter(
    fault=lambda right, arguments: right(**arguments), names=ALL, profiles=("fp32",), accepts="", gates=-np.inf
):
    """The gated delta rule in NumPy, with a fault; what it does not name it leaves at its default."""
    right = NUMPY.function(VARIANT, "chunkwise").call

    def completed(**arguments):
        b, _, t, _ = arguments["q"].shape
        neutral = {"log_decay": np.zeros((b, 1, t), np.float32), "beta": np.ones((b, 1, t), np.float32)}
        return right(**neutral | arguments)

    backend = Backend("adapter", profiles=profiles, layout="BHTD", log_decay_range=gates)
    call = with_signature(lambda **arguments: fault(completed, arguments), list(names))
    backend.implements(VARIANT, "chunkwise", accepts)(call)
    return backend


def scale_missing_for_wide_keys(right, arguments):
    if arguments["q"].shape[-1] > 4:
        arguments = {**arguments, "scale": 1.0}
    return right(**arguments)


def tail_of_one_token_wrong(right, arguments):
    output, state = right(**arguments)
    tokens = output.shape[2]
    if tokens > 1 and tokens % 16 == 1:
        output[:, :, -1] *= 2
    return output, state


def second_query_head_reads_the_first(right, arguments):
    output, state = right(**arguments)
    if arguments["q"].shape[1] > arguments["k"].shape[1]:
        output[:, 1] = output[:, 0]
    return output, state


def not_a_number_for_resets(right, arguments):
    output, state = right(**arguments)
    return (output * np.float32(np.nan) if np.isinf(arguments["log_decay"]).any() else output), state


def initial_state_refused_beyond_a_chunk(right, arguments):
    if arguments["initial_state"] is not None and arguments["q"].shape[2] > 3:
        raise RuntimeError("no room")
    return right(**arguments)
