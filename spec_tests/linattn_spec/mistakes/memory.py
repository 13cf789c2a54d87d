"""Memory that is not what it should be: poisoned, overwritten, never written."""

import numpy as np

from linattn_spec.mistakes.record import Array, Call, Mistake, Results, right, with_output


def poisoned(call: Call) -> Results:
    """0 times NaN: what should be selected away is multiplied away."""
    results = right(call)
    output = np.array(results["output"])
    output[:, :, -1, -1] = np.nan
    return {**results, "output": output}


def one_element(x: Array, call: Call) -> Array:
    changed = np.array(x)
    changed[0, 0, x.shape[2] // 2, 0] += 0.05 * np.abs(x).max()
    return changed


def tokens_exchanged(x: Array, call: Call) -> Array:
    if x.shape[2] < 3:
        return x
    order = np.arange(x.shape[2])
    middle = x.shape[2] // 2
    order[[middle, middle + 1]] = middle + 1, middle
    return x[:, :, order]


MEMORY = (
    Mistake("padding-multiplied-away", "memory", "NaN from padding survives a multiplication by 0.", poisoned),
    Mistake("one-wrong-element", "memory", "One element is hit by another write.", with_output(one_element)),
    Mistake("two-tokens-exchanged", "memory", "Two neighbouring outputs are exchanged.", with_output(tokens_exchanged)),
    Mistake("outputs-zero", "memory", "Outputs are never written.", with_output(lambda x, c: 0 * x)),
    Mistake("outputs-negated", "memory", "Outputs have the wrong sign.", with_output(lambda x, c: -x)),
)
