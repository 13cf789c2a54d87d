"""Gradients of a variant by two ways that share nothing: backwards along the tape, and forwards by complex steps."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import linattn_golden
from linattn import flat
from linattn.numbers import complex_step, tape
from linattn.record import Variant
from linattn_spec import drawn

SIZES = {"B": 1, "T": 5, "Hq": 1, "Hk": 1, "Hv": 1, "K": 4, "V": 3, "R": 2}
OPERATIONS = 5000  # of which no gradient of so small a case has more
CHUNK = 3


def agree(variant: Variant) -> bool:
    """In all causal forms, by every input and the initial state, to the rounding of float64."""
    sizes = drawn.all_sizes(variant, SIZES)
    fields = {"T": SIZES["T"], **{axis: sizes[axis] for axis in drawn.axes_of(variant)}, "initial_state": "drawn"}
    data = linattn_golden.load(drawn.case(variant, drawn.scenario(fields)))
    numbers = flat.complete(variant, data.inputs, data.initial_state)
    recurrent = partial(flat.compute, variant, form="recurrent")
    rng = np.random.default_rng(0)
    cotangents = {name: rng.normal(size=np.shape(x)) for name, x in recurrent(numbers).items()}
    forwards = {name: complex_step.gradient(recurrent, numbers, cotangents, name) for name in numbers}
    computed = [recurrent]
    if variant.parallel is not None:
        computed.append(partial(flat.compute, variant, form="chunkwise", chunk_size=CHUNK))
    return all(close(tape.gradients(compute, numbers, cotangents), forwards) for compute in computed)


def close(got: Mapping[str, Any], want: Mapping[str, Any]) -> bool:
    """To the rounding of that many operations, relative to the largest of all: one may be 0, as a sum of others."""
    largest = max(np.max(np.abs(x), initial=0) for x in want.values())
    errors = (np.abs(np.asarray(got[name], dtype=float) - x) for name, x in want.items())
    return all(bool(np.all(error <= OPERATIONS * 2.0**-53 * largest)) for error in errors)
