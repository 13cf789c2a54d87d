"""Laws of memory: what a call does to arrays that are not its own."""

from collections.abc import Iterator

import numpy as np

from linattn_spec import frameworks
from linattn_spec.comparison import Comparison
from linattn_spec.exchange import WrongReturn
from linattn_spec.laws.law import SLACK, Law
from linattn_spec.subject import Subject


def untouched(subject: Subject) -> Iterator[Comparison]:
    """A call leaves its arguments as they were, and a second call gives the same results."""
    exchange, framework = subject.exchange, subject.exchange.backend.array
    arguments = exchange.arguments(subject.data.inputs, subject.state)
    parts = [(name, x) for name, given in arguments.items() for x in (given if isinstance(given, tuple) else (given,))]
    arrays = [(name, x) for name, x in parts if not isinstance(x, float | None)]
    before = [frameworks.from_array(framework, x).values.copy() for _, x in arrays]
    exchange.function.call(**arguments)
    for (name, x), values in zip(arrays, before, strict=True):
        if not np.array_equal(frameworks.from_array(framework, x).values, values):
            raise WrongReturn(f"the call changed its argument {name}")
    first = subject.run()
    yield Comparison(subject.run(), first, subject.truth.units, SLACK, "called again: ")


MEMORY = (Law("untouched", untouched, ("odd-dims", "recipe-64")),)
